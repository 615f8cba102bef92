import Glibc
import TaskKit
import TestSupport

/// nginx with a test's configuration, run as the user of the test. It ends with this object.
final class NginxServer {
    static let nginx = "/usr/sbin/nginx"
    static let isThere = exists(nginx)

    private let folder: TemporaryFolder
    private let process: SpawnedProcess
    private let errors: Int32
    let port: Int

    /// - Parameters:
    ///   - certificate: The certificate for TLS with HTTP/2; `nil` for plain HTTP/1.1.
    ///   - locations: The directives of its server block.
    init(certificate: TestCertificate? = nil, _ locations: String) throws {
        folder = try TemporaryFolder()
        let (ours, theirs) = try connectedPair()
        errors = ours
        port = try BoundPort().number
        let text = Self.configuration(folder, port, certificate, locations)
        process = try SpawnedProcess(
            Self.nginx, ["-e", "stderr", "-p", folder.path, "-c", try folder.write(text, to: "nginx.conf")],
            errors: .descriptor(theirs))
        close(theirs)
        // nginx listens before it logs its event method.
        let reader = SocketLineReader(ours)
        var lines: [String] = []
        while lines.last?.contains("event method") != true {
            guard let line = try reader.line() else { throw TestFailure("nginx does not start: \(lines)") }
            lines.append(String(decoding: line, as: UTF8.self))
        }
    }

    deinit { close(errors) }

    private static func configuration(
        _ folder: TemporaryFolder, _ port: Int, _ certificate: TestCertificate?, _ locations: String
    ) -> String {
        let tls = certificate.map { "ssl_certificate \($0.file); ssl_certificate_key \($0.key);" } ?? ""
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.file($0));" }.joined(separator: " ")
        return """
            daemon off; master_process off; pid \(folder.file("pid")); error_log stderr notice;
            events {}
            http {
                access_log off; \(temporary) default_type text/plain;
                server { listen 127.0.0.1:\(port)\(certificate == nil ? "" : " ssl http2"); \(tls) \(locations) }
            }
            """
    }
}
