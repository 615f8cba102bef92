import Glibc
import TestSupport

/// A server of pages on two origins of this machine. It ends with this object.
final class PageServer {
    private static let python = "/usr/bin/python3"
    private static let library = "\(PackageFolder.main)/Clients/JavaScript/dist/trestle-bridge.js"

    /// Whether this machine has the required files.
    static let isPossible = exists(python) && exists(library)

    private let folder: TemporaryFolder
    private let process: SpawnedProcess
    private let line: Int32
    /// The two origins.
    let origins: [String]

    /// Starts a server that has only the client library, as `/bridge.js`.
    init() throws {
        folder = try TemporaryFolder()
        symlink(Self.library, folder.file("bridge.js"))
        let ends = try connectedPair()
        line = ends.ours
        process = try SpawnedProcess(
            Self.python, ["\(PackageFolder.tests)/ProgramTests/Support/page_server.py", folder.path],
            input: .descriptor(ends.theirs), output: .descriptor(ends.theirs), errors: .file(folder.file("errors")))
        close(ends.theirs)
        guard let ports = try SocketLineReader(line).line() else {
            throw TestFailure("the pages' server does not start: \(contents(of: folder.file("errors")))")
        }
        origins = String(decoding: ports, as: UTF8.self).split(separator: " ").map { "http://127.0.0.1:\($0)" }
    }

    deinit { close(line) }

    /// Ends the server. Its origins cannot be reached afterwards.
    func stop() throws {
        process.signal(SIGKILL)
        _ = try process.wait()
    }

    /// Serves a page.
    ///
    /// - Parameters:
    ///   - name: The page's name, such as `page.html`.
    ///   - script: Its script, which runs after the client library.
    ///   - body: Further content of its body.
    func serve(_ name: String, script: String, body: String = "") throws {
        let page = """
            <!doctype html><meta charset="utf-8"><title>\(name)</title>
            <script src="/bridge.js"></script><p>\(name)</p>\(body)
            <script>\(script)</script>
            """
        try folder.write(page, to: name)
    }

    /// Serves a text without changes.
    func serve(_ text: String, as name: String) throws { try folder.write(text, to: name) }

    /// Serves `reporter.html`, which reports the text after the `?` of its address.
    func serveReporter() throws {
        try serve(
            "reporter.html", script: "WebBridge.call('test.report', decodeURIComponent(location.search.slice(1)));")
    }

    /// Returns a script that calls a task and lets a reporter of another origin report the code of the error.
    ///
    /// - Parameter origin: The reporter's origin, which has a bridge.
    static func callAndReport(_ origin: String) -> String {
        """
        WebBridge.call("Echo", {}, (result, error) => {
            location = "\(origin)/reporter.html?" + (error?.code ?? "an answer");
        });
        """
    }
}

/// The locations of this package.
enum PackageFolder {
    /// The folder of the tests in Web.
    static let tests = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" }
    /// The root folder of the repository.
    static let main = tests.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" }
    /// The build folder of the daemon: the environment's `TRESTLE_BIN`, else the debug build.
    static let programs = getenv("TRESTLE_BIN").map { String(cString: $0) } ?? "\(main)/.build/debug"
    /// The path of trestle-web, beside the tests.
    static let container = "\(programsOfTests)/trestle-web"

    /// The build folder of this package.
    static let programsOfTests: String = {
        // The program that runs the tests is in the build folder, or it is a tool that has loaded the tests from there.
        let arguments = CommandLine.arguments
        let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments.first ?? ""
        return bundle.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
    }()
}
