import Glibc
import TaskKit

/// A request's body as options say it, where it is a file.
struct FileBody: Sendable {
    static let option = "$.body.file"

    let path: String
    let type: String?

    /// Nil: the body is another one.
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
    /// How much is read in one call.
    static let pieceBytes = 64 << 10

    private let place: FilePlace
    private let file: BodyFile
    /// How long it is when the request begins, and what is sent of it.
    let byteCount: Int

    /// - Throws: `http.file`, `storage.failed`.
    init(_ place: FilePlace) throws(BridgeError) {
        let folder = try place.openFolder()
        // What is no file could be waited for without end.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = openat(folder.descriptor, place.name, flags)
        guard descriptor >= 0 else { throw .file(errno, place.path, "the file cannot be opened") }
        file = BodyFile(name: place.name, descriptor: descriptor, unfinished: nil)
        self.place = place
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .file(.kind, place.path, "it is no regular file")
        }
        byteCount = Int(status.st_size)
    }

    /// The bytes at a position.
    ///
    /// - Returns: None at the end.
    /// - Throws: `storage.failed`; also where the file has become shorter.
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
