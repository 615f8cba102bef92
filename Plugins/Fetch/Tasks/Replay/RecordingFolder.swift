import Glibc
import Synchronization
import TaskKit

/// The folder of a recording: a HAR, and a folder of bodies. Every method waits for the disk.
struct RecordingFolder: Sendable {
    static let har = "recording.har"
    static let bodies = "bodies"

    let name: String
    let path: String

    var harPath: String { "\(path)/\(Self.har)" }
    func bodyPath(_ sha256: String) -> String { "\(path)/\(Self.bodies)/\(sha256)" }

    /// Creates the folder's description, without access to the disk.
    ///
    /// - Throws: `options.invalid`, if the name is invalid.
    init(_ name: String, in parent: String) throws(BridgeError) {
        guard Self.isName(name) else {
            throw .invalidOption(
                "$.name",
                expected: "1 to 64 letters, digits, hyphens and underscores that begin with one of the "
                    + "first two", got: JSON.string(String(name.prefix(100))).text)
        }
        (self.name, path) = (name, "\(parent)/\(name)")
    }

    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 64, first != UInt8(ascii: "-"), first != UInt8(ascii: "_")
        else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
    }

    static func isHash(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    var exists: Bool { access(harPath, F_OK) == 0 }

    /// Removes the recording.
    func remove() {
        for folder in ["\(path)/\(Self.bodies)", path] {
            for name in Self.names(in: folder) { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
    }

    /// The total size of its files in bytes.
    var byteCount: Int64 {
        ["\(path)/\(Self.bodies)", path].reduce(0) { sum, folder in
            Self.names(in: folder).reduce(sum) { sum, name in
                var status = stat()
                guard lstat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
                return sum + Int64(status.st_size)
            }
        }
    }

    /// Returns the names of a folder's entries.
    static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// An open file.
final class RecordedFile: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens a file.
    ///
    /// - Throws: `storage.full`, `storage.failed`.
    init(_ path: String, _ flags: Int32) throws(BridgeError) {
        descriptor = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        self.path = path
        guard descriptor >= 0 else { throw .recordingFailed(path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Writes bytes at a position.
    func write(_ bytes: [UInt8], at position: Int64) throws(BridgeError) {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(position) + off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .recordingFailed(path) }
            done += count
        }
    }

    /// Reads the next bytes; none at the end.
    func read(upTo count: Int) throws(BridgeError) -> [UInt8] {
        while true {
            var status = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                status = Glibc.read(descriptor, buffer.baseAddress, count)
                filled = max(0, status)
            }
            if status >= 0 { return bytes }
            guard errno == EINTR else { throw .recordingFailed(path) }
        }
    }
}

extension BridgeError {
    /// Returns the error for the current `errno`.
    static func recordingFailed(_ path: String) -> BridgeError {
        let code = errno
        let text = "the recording in \(path) cannot be used: \(String(cString: strerror(code)))"
        if code == ENOSPC || code == EDQUOT { return BridgeError("storage.full", text, isTransient: true) }
        return BridgeError(.storageFailed, text)
    }
}
