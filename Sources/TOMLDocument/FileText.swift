// Reads whole small files.
import Glibc

/// Reads files that a document names.
public enum FileText {
    /// Returns the bytes of the file at `path`. Returns more than `limitBytes` bytes if the file is longer, so that the
    /// caller notices. Blocks.
    ///
    /// - Throws: `TOMLError`, with a `systemError`.
    public static func read(_ path: String, limitBytes: Int) throws(TOMLError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while text.count <= limitBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            if count == 0 { break }
            text += chunk[..<count]
        }
        return text
    }

    private static func failure(_ path: String) -> TOMLError {
        let code = errno
        return TOMLError(file: path, reason: "cannot be read: \(String(cString: strerror(code)))", systemError: code)
    }
}
