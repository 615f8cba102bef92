import ArgumentParser
import BridgeClient
import EventLoop

/// What all commands that talk to a daemon take: which daemon, and in which form they write.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's socket.",
            discussion: """
                Without it: $TRESTLE_SOCKET, else $XDG_RUNTIME_DIR/trestle/bridge.sock, the user's own, where there is \
                one, else /run/trestle/bridge.sock.
                """,
            valueName: "path"))
    var socket: String?

    @OptionGroup var form: OutputForm

    /// Connects, runs the command, and disconnects. A signal cancels the Swift task that the command runs in; errors
    /// are reported here.
    /// - Parameter reconnect: how to connect again when the connection is lost; standard error reports it.
    /// - Throws: the exit code.
    func run(
        reconnect: Reconnection? = nil, _ body: @escaping @Sendable (Bridge) async throws -> Void
    ) async throws {
        let path = socket ?? SocketLocation.current().path
        do {
            try await Interruption.cancelling {
                let client = try await Bridge.connect(
                    socket: path,
                    configuration: .init(client: "trestle", version: Trestle.version, reconnect: reconnect))
                let result = await Result.catching {
                    // Where a lost connection is the end, the error says so.
                    if reconnect == nil { return try await body(client) }
                    try await ConnectionNews.reporting(of: client) { try await body(client) }
                }
                // Not cancelled with the command: what it still has to say is to reach the daemon.
                await Task { await client.close() }.value
                try result.get()
            }
        } catch let code as ExitCode {
            throw code
        } catch {
            throw Failure.report(error, asJSON: form.json)
        }
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
