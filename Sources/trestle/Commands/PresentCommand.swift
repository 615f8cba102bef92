import ArgumentParser
import BridgeClient
import BridgeJSON
import EventLoop

/// `trestle present`
struct PresentCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "present",
        abstract: "Shows alerts in this terminal and answers them with what is typed.",
        discussion: """
            Registers the task ui.alert, through which the daemon shows the alerts of this user's programs. A button \
            is chosen by its number or its label, the first one by an empty line. Ends with the end of input.

            EXAMPLES
              trestle present
              printf 'my answer\\n1\\n' | trestle present
            """)

    @OptionGroup var connection: ConnectionOptions
    @ParentCommand var root: Trestle

    func run() async throws {
        try await withClient { client in
            let presenter = await TerminalPresenter(
                lines: LineReader(), forgetsEarlierLines: StandardInput.isTerminal, print: { Screen.output.write($0) },
                bold: { Screen.output.bold($0) })
            try await client.register("ui.alert") { try await presenter.show($0) }
            Screen.error.write("Waiting for alerts.\n")
            try await Ending.first([
                { throw await client.closed() },
                {
                    await presenter.ended()
                    try await client.unregister("ui.alert")
                },
            ])
        }
    }
}

/// Several things to wait for.
enum Ending {
    /// Waits for the first of these to end; the others are cancelled. Throws what that one throws.
    static func first(_ bodies: [@Sendable () async throws -> Void]) async throws {
        try await withThrowingTaskGroup { group in
            for body in bodies { group.addTask { try await body() } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
