import Glibc
import Sodium
import Synchronization
import TaskKit

/// A file that a body is written to. It has a temporary name until it is complete, so no incomplete file has the final
/// name. Any thread, one at a time. All methods wait for the disk.
final class SavedFile: Sendable {
    private struct State {
        var hash = SHA256()
        var byteCount: Int64 = 0
        /// Whether the file has its final name, or was removed.
        var isEnded = false
    }

    private let place: FilePlace
    private let folder: FolderHandle
    private let replaces: Bool
    private let temporary: String
    private let file: BodyFile
    private let state = Mutex(State())

    /// Creates the file under a temporary name.
    ///
    /// - Parameters:
    ///   - place: The final place of the file.
    ///   - replaces: Whether the file replaces an existing one.
    /// - Throws: `http.file`, `storage.full`, `storage.failed`.
    init(_ place: FilePlace, replaces: Bool) throws(BridgeError) {
        let folder = try place.openFolder()
        try Self.check(place, in: folder, replaces)
        let temporary = ".trestle-\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(folder.descriptor, temporary, flags, 0o600)
        guard descriptor >= 0 else { throw .file(errno, place.path, "the file cannot be created") }
        file = BodyFile(name: temporary, descriptor: descriptor, unfinished: nil)
        (self.place, self.folder, self.replaces, self.temporary) = (place, folder, replaces, temporary)
    }

    deinit { discard() }

    /// Removes the file, unless it was finished.
    func discard() {
        let isEnded = state.withLock { state in
            defer { state.isEnded = true }
            return state.isEnded
        }
        if !isEnded { unlinkat(folder.descriptor, temporary, 0) }
    }

    /// Appends bytes.
    ///
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

    /// Gives the file its final name after all of it was flushed to the disk.
    ///
    /// - Returns: The member `file` of a body.
    /// - Throws: `http.file`, `storage.full`, `storage.failed`. The temporary file is then removed by ``discard()`` or
    ///   when this is released.
    func finish() throws(BridgeError) -> JSON {
        do throws(BodyFile.Failure) { try file.flush() } catch {
            throw .file(error.code, place.path, "the file cannot be flushed to disk")
        }
        // The file may have been created meanwhile.
        try Self.check(place, in: folder, replaces)
        guard takesPlace() else { throw .file(errno, place.path, "the file cannot be renamed to its final name") }
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
        // `linkat` succeeds only if the name is free.
        if !replaces, linkat(folder, temporary, folder, name, 0) == 0 {
            unlinkat(folder, temporary, 0)
            return true
        }
        // Not every file system supports hard links.
        guard replaces || [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return false }
        return renameat(folder, temporary, folder, name) == 0
    }

    /// Throws an error unless the name is free or belongs to a regular file that may be replaced.
    private static func check(_ place: FilePlace, in folder: FolderHandle, _ replaces: Bool) throws(BridgeError) {
        guard let mode = folder.mode(of: place.name) else { return }
        guard mode & S_IFMT == S_IFREG else {
            throw .file(.kind, place.path, "there is something that is not a regular file")
        }
        guard replaces else { throw .file(.exists, place.path, "the file exists; the option replace replaces it") }
    }
}
