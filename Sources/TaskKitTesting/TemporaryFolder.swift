import EventLoop
import FoundationEssentials
import Glibc

/// A temporary folder for one test.
enum TemporaryFolder {
    /// Creates an empty folder that only this user can access.
    static func make() throws(SystemError) -> String {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/trestle-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemError(code: errno, operation: "make a folder in", subject: base)
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a folder and its contents. Files that cannot be removed remain; they do no harm.
    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
    }
}
