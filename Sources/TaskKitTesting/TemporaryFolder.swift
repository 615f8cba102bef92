import EventLoop
import FoundationEssentials
import Glibc

/// A folder of a test's own.
enum TemporaryFolder {
    /// Makes an empty folder that no other user may enter.
    static func make() throws(SystemError) -> String {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/trestle-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemError(code: errno, operation: "make a folder in", subject: base)
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a folder with what is in it. What cannot be removed stays: it is in no one's way.
    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
    }
}
