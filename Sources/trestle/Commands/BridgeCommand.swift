import ArgumentParser
import BridgeClient
import BridgeJSON

/// A command that talks to the daemon. The common options may stand before or behind the command's name.
protocol BridgeCommand: AsyncParsableCommand, Sendable {
    var common: CommonOptions { get }
    var root: Trestle { get }
}

extension BridgeCommand {
    /// The common options, wherever they stand.
    var options: CommonOptions { common.or(root.common) }

    /// The path of the daemon's socket.
    var socketPath: String { options.socket ?? SocketLocation.current().path }

    /// Standard output, in the form that was asked for.
    var screen: Screen { Screen.output.showing(options.form) }

    /// Connects, runs `body`, disconnects; reports errors and turns them into the exit code.
    /// - Parameter reconnect: how to connect again when the connection is lost; nil: that ends the command.
    func withClient(
        reconnect: Reconnection? = nil, _ body: @escaping @Sendable (Bridge) async throws -> Void
    ) async throws {
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
