import Glibc
import HTTPRules
import TaskKit
import TestSupport

/// A server that answers as a script says: Tests/Support/http_script.py describes the scripts. It ends when this goes.
final class ScriptedServer {
    static let python = "/usr/bin/python3"
    static let isThere = access(python, X_OK) == 0

    private let folder: TemporaryFolder
    private let process: SpawnedProcess
    private let line: Int32
    /// On 127.0.0.1.
    let port: Int
    let scheme: String

    init(_ script: JSON, certificate: TestCertificate? = nil) throws {
        folder = try TemporaryFolder()
        scheme = certificate == nil ? "http" : "https"
        let program = #filePath.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" }
        let (ours, theirs) = try connectedPair()
        line = ours
        var arguments = ["\(program)/Support/http_script.py", try folder.write(script.text, to: "script.json")]
        if let certificate { arguments += [certificate.file, certificate.key] }
        process = try SpawnedProcess(
            Self.python, arguments, input: .descriptor(theirs), output: .descriptor(theirs),
            errors: .file(folder.file("errors")))
        close(theirs)
        guard let first = try SocketLineReader(ours).line(), let port = Int(String(decoding: first, as: UTF8.self))
        else {
            throw TestFailure("the scripted server does not start: \(contents(of: folder.file("errors")))")
        }
        self.port = port
    }

    deinit { close(line) }

    func url(_ path: String, host: String = "127.0.0.1") -> JSON { .string("\(scheme)://\(host):\(port)\(path)") }
}

/// Steps of a script.
enum Script {
    /// A response with this body, and its length.
    static func response(_ body: String, status: String = "200 OK", headers: String = "") -> JSON {
        let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n"
        return [["send": .string(FieldText.decode(Array((head + body).utf8)))]]
    }

    static func redirect(_ status: Int, to location: JSON) -> JSON {
        response("", status: "\(status) Elsewhere", headers: "Location: \(location.stringValue ?? "")\r\n")
    }

    /// Exactly these bytes, and the end of the connection.
    static func raw(_ text: String) -> JSON { [["send": .string(text)], ["close": true]] }
}
