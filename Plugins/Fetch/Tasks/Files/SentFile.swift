import Glibc
import TaskKit

/// A request's body that options specify as a file.
struct FileBody: Sendable {
    static let option = "$.body.file"

    let path: String
    let type: String?

    /// Reads the body; `nil` if it is not a file.
    init?(_ json: JSON) throws(JSONMismatch) {
        guard let file = json["file"] else { return nil }
        try json.refuseUnknown(["file", "type"], "$.body")
        guard let path = file.stringValue else {
            throw JSONMismatch(path: Self.option, expected: "a string", got: file.typeName)
        }
        self.path = path
        type = try FetchBody.type(json["type"])
    }
}

/// A file that is the body of a request. Any thread; all methods wait for the disk.
final class SentFile: Sendable {
    /// The maximum number of bytes that one call reads.
    static let pieceBytes = 64 << 10

    private let place: FilePlace
    private let file: BodyFile
    /// The length of the file when the request begins. Exactly this many bytes are sent.
    let byteCount: Int

    /// Opens the file.
    ///
    /// - Throws: `http.file`, `storage.failed`.
    init(_ place: FilePlace) throws(BridgeError) {
        let folder = try place.openFolder()
        // O_NONBLOCK: opening a FIFO would otherwise block.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = openat(folder.descriptor, place.name, flags)
        guard descriptor >= 0 else { throw .file(errno, place.path, "the file cannot be opened") }
        file = BodyFile(name: place.name, descriptor: descriptor, unfinished: nil)
        self.place = place
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .file(.kind, place.path, "it is not a regular file")
        }
        byteCount = Int(status.st_size)
    }

    /// Returns the bytes at a position.
    ///
    /// - Returns: The bytes; none at the end.
    /// - Throws: `storage.failed`; also if the file has become shorter.
    func read(at position: Int) throws(BridgeError) -> [UInt8] {
        let count = min(Self.pieceBytes, byteCount - position)
        guard count > 0 else { return [] }
        do throws(BodyFile.Failure) {
            let bytes = try file.read(count, at: Int64(position))
            if bytes.count == count { return bytes }
        } catch {
            throw .file(error.code, place.path, "the file cannot be read")
        }
        throw BridgeError(.storageFailed, "\(place.path): the file became shorter while it was sent")
    }
}
