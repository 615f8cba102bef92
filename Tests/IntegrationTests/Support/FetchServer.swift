import BridgeJSON
import TestSupport

/// A daemon that may send requests to a server on this machine, and that server.
enum FetchServer {
    /// - Parameters:
    ///   - script: A script for Tests/Support/http_script.py.
    ///   - body: Called with the daemon's home and the server's URL without a path.
    static func with(_ script: JSON, _ body: (DaemonHome, _ base: String) throws -> Void) throws {
        let server = try HTTPScriptProcess(script.text)
        try withDaemon("[plugins.fetch]\nprivate_networks = [\"127.0.0.0/8\"]\n") { daemon in
            try body(daemon.home, "http://127.0.0.1:\(server.port)")
        }
    }

    /// Returns steps of a script: a response with this body and its length.
    static func response(_ body: String, _ status: String = "200 OK", _ headers: String = "") -> JSON {
        // The server sends characters as bytes.
        let bytes = String(String.UnicodeScalarView(body.utf8.map { Unicode.Scalar($0) }))
        let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n"
        return [["send": .string(head + bytes)]]
    }
}
