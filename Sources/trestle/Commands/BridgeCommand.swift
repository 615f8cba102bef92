import ArgumentParser
import BridgeClient
import BridgeJSON

/// A command that talks to the daemon. `--socket` may stand before or behind the command's name.
protocol BridgeCommand: AsyncParsableCommand, Sendable {
    var connection: ConnectionOptions { get }
    var root: Trestle { get }
}

extension BridgeCommand {
    /// The path of the daemon's socket.
    var socketPath: String { connection.socket ?? root.connection.socket ?? SocketLocation.current().path }

    /// Connects, runs `body`, disconnects; reports errors and turns them into the exit code.
    /// - Parameter reconnect: how to connect again when the connection is lost; nil: that ends the command.
    func withClient(
        reconnect: Reconnection? = nil, _ body: @escaping @Sendable (Bridge) async throws -> Void
    ) async throws {
        var options = connection
        options.socket = connection.socket ?? root.connection.socket
        try await options.run(reconnect: reconnect, body)
    }

    /// Calls a task of the daemon's that answers a table, and shows that.
    func showList(
        _ task: String, _ member: String, first columns: [String], _ output: OutputOptions
    ) async throws {
        try await withClient { client in
            let result = try await client.callPages(task, list: member)
            Screen.output.show(
                list: result[member]?.arrayValue ?? [], first: columns, as: output.format(on: .output))
        }
    }
}
