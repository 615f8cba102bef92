import HTTPRules
import TaskKit
import TestSupport

/// A server that answers by a script; see Tests/Support/http_script.py. It ends with this object.
final class ScriptedServer {
    static let isThere = HTTPScriptProcess.isPossible

    private let process: HTTPScriptProcess
    let scheme: String

    init(_ script: JSON, certificate: TestCertificate? = nil) throws {
        scheme = certificate == nil ? "http" : "https"
        process = try HTTPScriptProcess(script.text, certificate: certificate.map { ($0.file, $0.key) })
    }

    /// The port on 127.0.0.1.
    var port: Int { process.port }

    func url(_ path: String, host: String = "127.0.0.1") -> JSON { .string("\(scheme)://\(host):\(port)\(path)") }
}

/// Steps of a script.
enum Script {
    /// Returns a response with a body and its length.
    static func response(_ body: String, status: String = "200 OK", headers: String = "") -> JSON {
        let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n"
        return [["send": .string(FieldText.decode(Array((head + body).utf8)))]]
    }

    static func redirect(_ status: Int, to location: JSON) -> JSON {
        response("", status: "\(status) Elsewhere", headers: "Location: \(location.stringValue ?? "")\r\n")
    }

    /// Returns steps that send exactly these bytes and close the connection.
    static func raw(_ text: String) -> JSON { [["send": .string(text)], ["close": true]] }
}
