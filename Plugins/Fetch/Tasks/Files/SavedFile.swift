import Glibc
import Sodium
import Synchronization
import TaskKit

/// A file that a body is written to. It has another name until it is whole, so that it is there as a whole, or not at
/// all. Any thread, one at a time; all methods wait for the disk.
final class SavedFile: Sendable {
    private struct State {
        var hash = SHA256()
        var byteCount: Int64 = 0
        /// Whether the file has its name, or is gone.
        var isEnded = false
    }

    private let place: FilePlace
    private let folder: FolderHandle
    private let replaces: Bool
    private let temporary: String
    private let file: BodyFile
    private let state = Mutex(State())

    /// Makes the file under another name.
    ///
    /// - Parameters:
    ///   - place: Where it is to be.
    ///   - replaces: Whether it takes the place of a file that exists.
    /// - Throws: `http.file`, `storage.full`, `storage.failed`.
    init(_ place: FilePlace, replaces: Bool) throws(BridgeError) {
        let folder = try place.openFolder()
        try Self.check(place, in: folder, replaces)
        let temporary = ".trestle-\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(folder.descriptor, temporary, flags, 0o600)
        guard descriptor >= 0 else { throw .file(errno, place.path, "the file cannot be made") }
        file = BodyFile(name: temporary, descriptor: descriptor, unfinished: nil)
        (self.place, self.folder, self.replaces, self.temporary) = (place, folder, replaces, temporary)
    }

    deinit { discard() }

    /// Nothing stays, unless the file was finished.
    func discard() {
        let isEnded = state.withLock { state in
            defer { state.isEnded = true }
            return state.isEnded
        }
        if !isEnded { unlinkat(folder.descriptor, temporary, 0) }
    }

    /// - Throws: `storage.full`, `storage.failed`.
    func write(_ bytes: [UInt8]) throws(BridgeError) {
        let position = state.withLock { state in
            bytes.withUnsafeBytes { state.hash.update($0) }
            defer { state.byteCount += Int64(bytes.count) }
            return state.byteCount
        }
        do throws(BodyFile.Failure) { try file.write(bytes, at: position) } catch {
            throw .file(error.code, place.path, "the file cannot be written")
        }
    }

    /// Gives the file its name, once all of it is on the disk.
    ///
    /// - Returns: The member `file` of a body.
    /// - Throws: `http.file`, `storage.full`, `storage.failed`; nothing stays then.
    func finish() throws(BridgeError) -> JSON {
        do throws(BodyFile.Failure) { try file.flush() } catch {
            throw .file(error.code, place.path, "the file cannot be brought to disk")
        }
        // It may have come to be meanwhile.
        try Self.check(place, in: folder, replaces)
        guard takesPlace() else { throw .file(errno, place.path, "the file cannot be put in its place") }
        let (byteCount, hash) = state.withLock { state in
            state.isEnded = true
            return (state.byteCount, state.hash.finish())
        }
        return [
            "path": .string(place.path), "bytes": .number(JSONNumber(byteCount)), "sha256": .string(hash),
        ]
    }

    private func takesPlace() -> Bool {
        let (folder, name) = (folder.descriptor, place.name)
        // A second name is only given where the name is free.
        if !replaces, linkat(folder, temporary, folder, name, 0) == 0 {
            unlinkat(folder, temporary, 0)
            return true
        }
        // Not every file system has second names.
        guard replaces || [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return false }
        return renameat(folder, temporary, folder, name) == 0
    }

    /// Whether the name is free, or a regular file has it that is to be replaced.
    private static func check(_ place: FilePlace, in folder: FolderHandle, _ replaces: Bool) throws(BridgeError) {
        guard let mode = folder.mode(of: place.name) else { return }
        guard mode & S_IFMT == S_IFREG else {
            throw .file(.kind, place.path, "there is something that is no regular file")
        }
        guard replaces else { throw .file(.exists, place.path, "the file exists; the option replace replaces it") }
    }
}
