import ArgumentParser
import BridgeClient
import BridgeJSON

/// A command that talks to the daemon. `--socket`, `--json` and `--text` may stand before or behind the command's name.
protocol BridgeCommand: AsyncParsableCommand, Sendable {
    var common: CommonOptions { get }
    var root: Trestle { get }
}

extension BridgeCommand {
    /// The path of the daemon's socket.
    var socketPath: String { common.socket ?? root.common.socket ?? SocketLocation.current().path }

    /// In which form the command writes.
    private var form: OutputForm { common.form.or(root.common.form) }

    /// Standard output, in that form.
    var screen: Screen { Screen.output.showing(form) }

    /// Connects, runs `body`, disconnects; reports errors and turns them into the exit code.
    /// - Parameter reconnect: how to connect again when the connection is lost; nil: that ends the command.
    func withClient(
        reconnect: Reconnection? = nil, _ body: @escaping @Sendable (Bridge) async throws -> Void
    ) async throws {
        var options = common
        options.socket = common.socket ?? root.common.socket
        options.form = form
        try await options.run(reconnect: reconnect, body)
    }

    /// Calls a task of the daemon's that answers a table, and shows that.
    func showList(
        _ task: String, _ member: String, first columns: [String]
    ) async throws {
        try await withClient { client in
            let result = try await client.callPages(task, list: member)
            screen.show(list: result[member]?.arrayValue ?? [], first: columns)
        }
    }
}
