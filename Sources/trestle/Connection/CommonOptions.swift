import ArgumentParser
import BridgeClient
import EventLoop
import Glibc

/// The options of all commands that connect to a daemon: the socket and the form of the output.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's socket.",
            discussion: """
                Without it: $TRESTLE_SOCKET, else the socket of the user's daemon if it exists (bridge.sock in \
                $XDG_RUNTIME_DIR/trestle, or in /tmp/trestle-UID without that variable; not for root), else \
                /run/trestle/bridge.sock.
                """,
            valueName: "path"))
    var socket: String?

    @OptionGroup var form: OutputForm

    @Option(
        help: ArgumentHelp(
            "The time limit of the command: seconds, or a number with the unit ms, s, m or h.", valueName: "duration"))
    var timeout: TimeLimit?

    @Flag(help: "Show results and errors only: no progress, no notes, nothing about the connection.")
    var quiet = false

    /// Returns these options, given after the command's name, completed with those given before it.
    func or(_ other: CommonOptions) -> CommonOptions {
        var options = self
        options.socket = socket ?? other.socket
        options.form = form.or(other.form)
        options.timeout = timeout ?? other.timeout
        options.quiet = quiet || other.quiet
        return options
    }

    /// Connects, runs the command, and disconnects. A signal cancels the Swift task in which the command runs. Reports
    /// errors.
    /// - Parameter reconnect: The policy for reconnecting after a lost connection, which is reported on standard error.
    /// - Throws: The exit code.
    func run(
        reconnect: Reconnection? = nil, _ body: @escaping @Sendable (Bridge) async throws -> Void
    ) async throws {
        let path = socket ?? SocketLocation.current().path
        do {
            try Self.check(path, isOption: socket != nil)
            try await Interruption.cancelling { [timeout, quiet] in
                try await News.$isShown.withValue(!quiet) {
                    try await TimeLimit.within(timeout) { try await Self.run(path, reconnect, body) }
                }
            }
        } catch let code as ExitCode {
            throw code
        } catch {
            throw Failure.report(error, asJSON: form.json)
        }
    }

    /// Checks that a socket can have this path.
    ///
    /// - Throws: ``UsageFailure``.
    private static func check(_ path: String, isOption: Bool) throws(UsageFailure) {
        let source = isOption ? "--socket" : "TRESTLE_SOCKET"
        guard !path.isEmpty else { throw UsageFailure("\(source): the path is empty") }
        let (bytes, limit) = (path.utf8.count, MemoryLayout<sockaddr_un>.size - MemoryLayout<sa_family_t>.size - 1)
        guard bytes <= limit else {
            throw UsageFailure(
                "\(source): the path has \(bytes) bytes, and a Unix socket's path has at most \(limit): choose a "
                    + "shorter one")
        }
    }

    private static func run(
        _ path: String, _ reconnect: Reconnection?, _ body: @Sendable (Bridge) async throws -> Void
    ) async throws {
        let client = try await Bridge.connect(
            socket: path, configuration: .init(client: "trestle", version: Trestle.version, reconnect: reconnect))
        let result = await Result.catching {
            // Without reconnecting, the error reports the lost connection.
            if reconnect == nil { return try await body(client) }
            try await ConnectionNews.reporting(of: client) { try await body(client) }
        }
        // Not cancelled with the command, so that its last messages reach the daemon.
        await Task { await client.close() }.value
        try result.get()
    }
}

extension Trestle {
    static var version: String { configuration.version }
}

extension Result where Failure == any Error {
    static func catching(_ body: () async throws -> Success) async -> Result {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
