import Glibc

/// The program http_script.py, which answers HTTP requests according to a script. It ends with this object.
public final class HTTPScriptProcess {
    private static let python = "/usr/bin/python3"
    /// Whether this machine has the required program.
    public static let isPossible = access(python, X_OK) == 0

    private let folder: TemporaryFolder
    private let process: SpawnedProcess
    private let line: Int32
    /// The port on 127.0.0.1.
    public let port: Int

    /// - Parameters:
    ///   - script: The answers, in JSON.
    ///   - certificate: The PEM files of a certificate and its key; `nil` for no TLS.
    public init(_ script: String, certificate: (file: String, key: String)? = nil) throws {
        folder = try TemporaryFolder()
        let program = #filePath.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
        let (ours, theirs) = try connectedPair()
        line = ours
        var arguments = ["\(program)/http_script.py", try folder.write(script, to: "script.json")]
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
}
