import Glibc
import TestSupport

/// A server that asks for passwords, waits and sends files, also with an untrusted certificate. It ends with this
/// object.
final class OddServer {
    private static let python = "/usr/bin/python3"
    /// Whether this machine has the required programs.
    static let isPossible = exists(python) && exists("/usr/bin/openssl")

    private let folder: TemporaryFolder
    private let process: SpawnedProcess
    private let line: Int32
    /// The HTTP origin.
    let origin: String
    /// The HTTPS origin.
    let secureOrigin: String

    init() throws {
        folder = try TemporaryFolder()
        let ends = try connectedPair()
        line = ends.ours
        process = try SpawnedProcess(
            Self.python, ["\(PackageFolder.tests)/ProgramTests/Support/odd_server.py", folder.path],
            input: .descriptor(ends.theirs), output: .descriptor(ends.theirs), errors: .file(folder.file("errors")))
        close(ends.theirs)
        guard let ports = try SocketLineReader(line).line() else {
            throw TestFailure("the odd server does not start: \(contents(of: folder.file("errors")))")
        }
        let numbers = String(decoding: ports, as: UTF8.self).split(separator: " ")
        guard numbers.count == 2 else { throw TestFailure("the odd server does not say two ports") }
        origin = "http://127.0.0.1:\(numbers[0])"
        secureOrigin = "https://127.0.0.1:\(numbers[1])"
    }

    deinit { close(line) }
}
