import ArgumentParser
import BridgeClient
import BridgeJSON

/// A command that connects to the daemon. The common options are allowed before and after the command's name.
protocol BridgeCommand: AsyncParsableCommand, Sendable {
    var common: CommonOptions { get }
    var root: Trestle { get }
}

extension BridgeCommand {
    /// The common options from both places.
    var options: CommonOptions { common.or(root.common) }

    /// The path of the daemon's socket.
    var socketPath: String { options.socket ?? SocketLocation.current().path }

    /// Standard output in the selected form.
    var screen: Screen { Screen.output.showing(options.form) }

    /// Connects, runs `body`, disconnects. Reports errors and converts them to the exit code.
    /// - Parameter reconnect: The policy for reconnecting after a lost connection; `nil` ends the command.
    func withClient(
        reconnect: Reconnection? = nil, _ body: @escaping @Sendable (Bridge) async throws -> Void
    ) async throws {
        try await options.run(reconnect: reconnect, body)
    }

    /// Calls a task of the daemon that returns a list, and shows the list as a table.
    func showList(
        _ task: String, _ member: String, first columns: [String]
    ) async throws {
        try await withClient { client in
            let result = try await client.callPages(task, list: member)
            screen.show(list: result[member]?.arrayValue ?? [], first: columns)
        }
    }
}
