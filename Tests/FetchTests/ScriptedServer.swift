import HTTPRules
import TaskKit
import TestSupport

/// A server that answers as a script says: Tests/Support/http_script.py describes the scripts. It ends when this goes.
final class ScriptedServer {
    static let isThere = HTTPScriptProcess.isPossible

    private let process: HTTPScriptProcess
    let scheme: String

    init(_ script: JSON, certificate: TestCertificate? = nil) throws {
        scheme = certificate == nil ? "http" : "https"
        process = try HTTPScriptProcess(script.text, certificate: certificate.map { ($0.file, $0.key) })
    }

    /// On 127.0.0.1.
    var port: Int { process.port }

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
