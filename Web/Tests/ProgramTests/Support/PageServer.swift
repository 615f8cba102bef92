import Glibc
import TestSupport

/// Pages on two origins of this machine. The server ends when this goes.
final class PageServer {
    private static let python = "/usr/bin/python3"
    private static let library = "\(PackageFolder.main)/Clients/JavaScript/dist/trestle-bridge.js"

    /// Whether this machine has what it takes.
    static let isPossible = exists(python) && exists(library)

    private let folder: TemporaryFolder
    private let process: SpawnedProcess
    private let line: Int32
    /// The two origins.
    let origins: [String]

    /// A server that has the client library as `/bridge.js`, and nothing else.
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

    /// Ends the server: nobody listens at its origins any more.
    func stop() throws {
        process.signal(SIGKILL)
        _ = try process.wait()
    }

    /// Serves a page.
    ///
    /// - Parameters:
    ///   - name: The page's name, such as `page.html`.
    ///   - script: Its script, which runs behind the client library.
    ///   - body: What is in it besides.
    func serve(_ name: String, script: String, body: String = "") throws {
        let page = """
            <!doctype html><meta charset="utf-8"><title>\(name)</title>
            <script src="/bridge.js"></script><p>\(name)</p>\(body)
            <script>\(script)</script>
            """
        try folder.write(page, to: name)
    }

    /// Serves a text as it is.
    func serve(_ text: String, as name: String) throws { try folder.write(text, to: name) }

    /// Serves `reporter.html`, which reports what stands behind the `?` of its address.
    func serveReporter() throws {
        try serve(
            "reporter.html", script: "WebBridge.call('test.report', decodeURIComponent(location.search.slice(1)));")
    }

    /// A script that calls a task, and has a reporter of another origin tell the code of the error.
    ///
    /// - Parameter origin: The reporter's, which has a bridge.
    static func callAndTell(_ origin: String) -> String {
        """
        WebBridge.call("Echo", {}, (result, error) => {
            location = "\(origin)/reporter.html?" + (error?.code ?? "an answer");
        });
        """
    }
}

/// Where this package is.
enum PackageFolder {
    /// The tests of the package in Web.
    static let tests = #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" }
    /// The repository.
    static let main = tests.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" }
    /// Where the daemon was built: the environment's `TRESTLE_BIN`, else the debug build.
    static let programs = getenv("TRESTLE_BIN").map { String(cString: $0) } ?? "\(main)/.build/debug"
    /// Where trestle-web was built: beside the tests.
    static let container = "\(programsOfTests)/trestle-web"

    /// Where this package was built.
    static let programsOfTests: String = {
        // The program that runs the tests is in the build folder, or a tool that has loaded the tests from there.
        let arguments = CommandLine.arguments
        let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments.first ?? ""
        return bundle.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" }
    }()
}
