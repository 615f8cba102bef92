import BridgeJSON
import Glibc
import TestSupport
import Testing

private let activate = "/usr/bin/systemd-socket-activate"

@Suite(
    "Sockets passed by the service manager", .blocking,
    .enabled(if: exists(activate), "needs systemd-socket-activate, of the package systemd"))
struct ActivationTests {
    /// Listens in place of the daemon and starts it on the first connection.
    private func activated(_ home: DaemonHome, _ sockets: [String]) throws -> SpawnedProcess {
        let variables = home.environment.flatMap { ["-E", $0] }
        return try SpawnedProcess(
            activate, sockets + variables + [Paths.program("trestled")] + home.commandLine,
            errors: .file(home.logPath))
    }

    /// Connects as soon as a process listens.
    private func client(_ path: String, _ process: SpawnedProcess) throws -> Wire {
        let deadline = Deadline()
        while true {
            if let wire = try? Wire(path: path) { return wire }
            if process.hasEnded(within: 2) || deadline.isOver { throw TestFailure("nobody listens at \(path)") }
        }
    }

    @Test("are served, and keep their files, their modes and the client that connected before the daemon started")
    func adopted() throws {
        let home = try DaemonHome()
        let socket = home.folder.file("handed")
        let other = home.folder.file("other")
        let process = try activated(home, ["-l", socket, "-l", other])
        // The client whose connection starts the daemon. It has sent its call before the daemon runs.
        let first = try client(socket, process)
        chmod(socket, 0o620)
        try first.send(#"{"task":"Echo","options":1,"callbackId":1}"#)
        #expect(try first.receive() == ["callbackId": 1, "result": 1])
        #expect(try client(other, process).result("Echo", 2) == 2)
        var status = stat()
        #expect(lstat(socket, &status) == 0 && status.st_mode & 0o777 == 0o620)
        #expect(!exists(home.socketPath))
        process.signal(SIGTERM)
        #expect(try process.wait() == .exited(0))
        #expect(exists(socket) && exists(other))
        #expect(home.log.contains("listening at \(socket), \(other)"))
        #expect(home.log.contains("the setting socket (\(home.socketPath)) has no effect"))
    }

    @Test("keep the clients that wait in their queue when the daemon stops, and the next daemon serves these")
    func queue() throws {
        let home = try DaemonHome()
        let listening = try ListeningSocket(home.folder.file("handed"))
        let first = try listening.start(home)
        #expect(try client(listening.path, first).result("Echo", 1) == 1)
        first.signal(SIGTERM)
        #expect(try first.wait() == .exited(0))
        let waiting = try Wire(path: listening.path)
        try waiting.send(#"{"task":"Echo","options":2,"callbackId":2}"#)
        let second = try listening.start(home)
        #expect(try waiting.receive() == ["callbackId": 2, "result": 2])
        second.signal(SIGTERM)
        #expect(try second.wait() == .exited(0))
    }

    @Test(
        "do not keep clients waiting if the configuration is invalid: these get the error, and the next daemon serves")
    func misconfigured() throws {
        let home = try DaemonHome("log_levle = \"info\"")
        let listening = try ListeningSocket(home.folder.file("handed"))
        let waiting = try [Wire(path: listening.path), Wire(path: listening.path)]
        try waiting[0].send(#"{"task":"Echo","options":1,"callbackId":1}"#)
        let first = try listening.start(home)
        for client in waiting {
            let rejection = try client.receive()
            #expect(rejection["callbackId"] == .null)
            #expect(rejection["error"]?["code"] == "configuration.invalid" && rejection["error"]?["transient"] == true)
        }
        #expect(try first.wait() == .exited(78))
        #expect(home.log.contains("trestled.toml:1:1: log_levle: unknown key"))
        // No client is left in the queue that would make a service manager start the daemon again.
        #expect(!listening.hasWaiting)
        try home.folder.write("log_level = \"info\"", to: "trestled.toml")
        let next = try Wire(path: listening.path)
        try next.send(#"{"task":"Echo","options":2,"callbackId":2}"#)
        let second = try listening.start(home)
        #expect(try next.receive() == ["callbackId": 2, "result": 2])
        second.signal(SIGTERM)
        #expect(try second.wait() == .exited(0))
    }

    @Test("let the command line report why the daemon does not start: invalid configuration or another reason")
    func reasons() throws {
        for isMisconfigured in [true, false] {
            let home = try DaemonHome(isMisconfigured ? "log_levle = \"info\"" : "")
            if !isMisconfigured { try home.folder.write("", to: "state") }
            let listening = try ListeningSocket(home.folder.file("handed"))
            let command = try SpawnedProcess(
                Paths.program("trestle"), ["status", "--socket", listening.path], environment: ["PATH=/usr/bin"],
                errors: .file(home.folder.file("said")))
            let deadline = Deadline()
            while !listening.hasWaiting { if deadline.isOver { throw TestFailure("the command does not connect") } }
            let daemon = try listening.start(home)
            #expect(try command.wait() == .exited(75))
            let reason = isMisconfigured ? "its configuration is invalid" : "the daemon cannot start"
            let said = contents(of: home.folder.file("said"))
            #expect(said.contains(reason) && said.split(separator: "\n").count == 1, "\(said)")
            #expect(try daemon.wait() == .exited(isMisconfigured ? 78 : 1))
        }
    }

    @Test("of an unsupported type end the daemon with an error that names the socket")
    func wrongKind() throws {
        let home = try DaemonHome()
        let socket = home.folder.file("handed")
        let process = try activated(home, ["--seqpacket", "--fdname=web", "-l", socket])
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        let deadline = Deadline()
        while !connect(descriptor, to: socket) {
            if process.hasEnded(within: 2) || deadline.isOver { throw TestFailure("nobody listens at \(socket)") }
        }
        #expect(try process.wait() == .exited(1))
        #expect(
            home.log.contains(
                "use the socket handed over as web: listen at descriptor 3: it is a Unix socket, but not a stream"),
            "\(home.log)")
    }

    private func connect(_ descriptor: Int32, to path: String) -> Bool {
        withAddress(path) { Glibc.connect(descriptor, $0, $1) } == 0
    }
}

/// A socket that listens like the socket of a service manager. It outlives the daemons that serve it.
private final class ListeningSocket {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard withAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0 else {
            throw TestFailure("nobody can listen at \(path)")
        }
    }

    deinit { close(descriptor) }

    /// Whether a client waits in the queue. Waits for up to 20 milliseconds.
    var hasWaiting: Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 20) == 1
    }

    /// Starts a daemon with this socket as descriptor 3. A shell sets `LISTEN_PID` to its own process ID, which becomes
    /// the daemon's with `exec`, and moves the socket from its standard input to descriptor 3.
    func start(_ home: DaemonHome) throws -> SpawnedProcess {
        let script = "exec 3<&0 0</dev/null; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=x.socket; exec \"$@\""
        return try SpawnedProcess(
            "/bin/sh", ["-c", script, "sh", Paths.program("trestled")] + home.commandLine,
            environment: home.environment, input: .descriptor(descriptor), errors: .file(home.logPath))
    }
}

private func withAddress<R>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
}
