import BridgeClient
import BridgeJSON
import EventLoop
import Glibc
import PrivateDaemon
import TestSupport

/// A page's report to the test, by the task `test.report`.
struct Report: Sendable, Equatable {
    /// The origin that the page represents, according to the daemon.
    var origin: String
    /// The options of the page's call.
    var value: JSON
}

/// A daemon, a screen, a bus, a page server and trestle-web, for one test.
final class WebRun {
    /// Whether this machine has the required programs and files.
    static var isPossible: Bool {
        SessionBusProcess.isPossible && VirtualScreen.isPossible && PageServer.isPossible
            && exists("\(PackageFolder.programs)/trestled")
    }
    /// The requirements, as text.
    static let needs = """
        needs dbus-daemon, Xvfb and python3, the script of `make page-script`, and the daemon in \
        \(PackageFolder.programs)
        """

    let server: PageServer
    let daemon: PrivateDaemon
    let bridge: Bridge
    let folder: PrivateFolder
    /// Additional environment variables of trestle-web. By default there is no system bus.
    var environment = ["DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent/bus"]
    private let screen: VirtualScreen
    private let bus: SessionBusProcess
    private let home: TemporaryFolder
    private var process: SpawnedProcess?
    private var reports: AsyncStream<Report>.Iterator
    private let readiness: EventStream

    /// Runs `body`, then ends everything.
    ///
    /// - Parameters:
    ///   - rules: Returns rules of the daemon's policy for the server's origins, in addition to the rule for reports.
    ///   - plugins: Plugins of the daemon in addition to those of every test.
    ///   - body: The test.
    static func with(
        rules: ([String]) -> String = { _ in "" }, plugins: [String] = [], _ body: (WebRun) async throws -> Void
    ) async throws {
        let folder = try PrivateFolder(for: "web")
        defer { folder.remove() }
        let run = try await WebRun(folder, rules: rules, plugins: plugins)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(run))
        } catch {
            result = .failure(error)
        }
        try run.stop()
        await run.bridge.close()
        await run.daemon.stop()
        try result.get()
    }

    private init(_ folder: PrivateFolder, rules: ([String]) -> String, plugins: [String]) async throws {
        self.folder = folder
        server = try PageServer()
        screen = try VirtualScreen((1024, 768))
        bus = try SessionBusProcess()
        home = try TemporaryFolder()
        chmod(home.path, 0o700)
        try Self.writeRules(folder, server.origins, rules(server.origins))
        for name in ["Echo", "Alert", "CloseWeb"] + plugins {
            let library = "lib\(name)Plugin.so"
            symlink("\(PackageFolder.programs)/\(library)", "\(folder.pluginPath)/\(library)")
        }
        daemon = try await PrivateDaemon.start(.init(daemon: "\(PackageFolder.programs)/trestled"), in: folder)
        bridge = try await Bridge.connect(socket: folder.socketPath, configuration: .init(client: "test"))
        readiness = try await bridge.subscribe(to: "web.ready")
        let (stream, writer) = AsyncStream.makeStream(of: Report.self)
        reports = stream.makeAsyncIterator()
        try await bridge.register("test.report") { (value: JSON, call) in
            writer.yield(Report(origin: call.caller.origin, value: value))
            return JSON.null
        }
    }

    private static func writeRules(_ folder: PrivateFolder, _ origins: [String], _ rules: String) throws {
        let path = "\(folder.path)/policy.d"
        guard mkdir(path, 0o700) == 0 else { throw TestFailure("\(path) cannot be made") }
        let names = origins.map { "\"\($0)\"" }.joined(separator: ", ")
        let text = """
            [[rule]]
            allow = "call"
            names = "test.report"
            origin = [\(names)]
            \(rules)
            """
        let file = fopen("\(path)/test.toml", "w")
        fputs(text, file)
        fclose(file)
    }

    /// Starts trestle-web with these arguments and the daemon's socket.
    func start(_ arguments: String...) throws { try start(arguments) }

    /// Starts trestle-web with these arguments and the daemon's socket.
    func start(_ arguments: [String]) throws { process = try spawn(arguments) }

    /// Starts a trestle-web process, beside any other.
    func spawn(_ arguments: [String]) throws -> SpawnedProcess {
        try SpawnedProcess(
            PackageFolder.container, ["--socket", folder.socketPath, "--dev"] + arguments,
            environment: environment + screen.environment + bus.environment + [
                "HOME=\(home.path)", "XDG_RUNTIME_DIR=\(home.path)", "GDK_BACKEND=x11", "GSK_RENDERER=cairo",
            ], output: .file(errorPath), errors: .file(errorPath))
    }

    /// The home directory of trestle-web's user.
    var homePath: String { home.path }
    private var errorPath: String { home.file("errors") }
    /// The text that trestle-web has written to standard output and standard error.
    var errors: String { contents(of: errorPath) }

    /// Returns the next report of a page.
    func report() async throws -> Report {
        guard let report = await reports.next(isolation: #isolation) else { throw TestFailure("no reports any more") }
        return report
    }

    /// Runs trestle-web to its end, with the same home directory.
    func command(_ arguments: String...) throws -> ProgramRun {
        try TestSupport.run(PackageFolder.container, arguments, environment: ["HOME=\(home.path)"])
    }

    /// Writes a profile of the user.
    func write(profile text: String, named name: String) throws {
        var folder = ""
        for part in [".config", "trestle", "web"] {
            folder += "\(part)/"
            mkdir(home.file(folder), 0o700)
        }
        try home.write(text, to: "\(folder)\(name).toml")
    }

    /// Writes a file beside the profiles.
    func writeScript(_ text: String, named name: String) throws {
        try home.write(text, to: ".config/trestle/web/\(name)")
    }

    /// Waits until trestle-web provides its tasks, which it reports by an event.
    func awaitTasks() async throws {
        for try await _ in readiness { return }
    }

    /// Kills the processes that show pages.
    func killWebProcesses() throws { try signalWebProcesses(SIGKILL) }

    /// Sends a signal to the processes that show pages.
    func signalWebProcesses(_ signal: Int32) throws {
        let found = try descendants.filter { contents(of: "/proc/\($0)/comm").hasPrefix("WebKitWebProc") }
        guard !found.isEmpty else { throw TestFailure("no process shows a page") }
        for pid in found { kill(pid, signal) }
    }

    /// The IDs of the processes that descend from trestle-web.
    var descendants: [pid_t] {
        get throws {
            guard let process else { throw TestFailure("trestle-web was not started") }
            return Self.descendants(of: process.pid)
        }
    }

    /// The number of open descriptors of trestle-web.
    var openDescriptors: Int {
        get throws {
            guard let process else { throw TestFailure("trestle-web was not started") }
            return try FolderContents.names(in: "/proc/\(process.pid)/fd").count
        }
    }

    private static func descendants(of pid: pid_t) -> [pid_t] {
        // Each thread has its own children.
        let threads = (try? FolderContents.names(in: "/proc/\(pid)/task")) ?? []
        let children = threads.flatMap { contents(of: "/proc/\(pid)/task/\($0)/children").split(separator: " ") }
            .compactMap { pid_t($0) }
        return children + children.flatMap { descendants(of: $0) }
    }

    /// Waits for the end of trestle-web and returns it.
    func end() throws -> ProcessEnd {
        guard let process else { throw TestFailure("trestle-web was not started") }
        return try process.wait()
    }

    /// Ends trestle-web by SIGTERM if it runs.
    func stop() throws {
        process?.signal(SIGTERM)
        _ = try process?.wait()
        process = nil
    }
}
