import ArgumentParser
import BridgeClient
import BridgeJSON
import EventLoop

/// `trestle present`
struct PresentCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "present",
        abstract: "Shows alerts, in this terminal or on the desktop, and answers them.",
        discussion: """
            Registers the task ui.alert, through which the daemon shows the alerts of this user's programs.

            In a terminal, a button is selected by its number or its label, and the first button by an empty line. The \
            command ends at the end of its input.

            With --desktop, alerts are notifications of the session that DBUS_SESSION_BUS_ADDRESS names, and their \
            buttons are actions. Prompts are shown if the notification service accepts typed replies. An alert that \
            cannot be shown goes to the daemon's next presenter. The command ends with an error when the session bus \
            ends: the systemd user unit trestle-present.service starts it again.

            When the connection to the daemon is lost, the command connects again. Standard error reports the lost and \
            the new connection.

            EXAMPLES
              trestle present
              printf 'my answer\\n1\\n' | trestle present
              trestle present --desktop
              systemctl --user enable --now trestle-present
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var reconnecting: ReconnectOptions
    @ParentCommand var root: Trestle

    @Flag(help: "Show alerts as desktop notifications with actions, instead of in the terminal.")
    var desktop = false

    func run() async throws {
        try await withClient(reconnect: reconnecting.reconnection) { client in
            if desktop { try await Self.presentOnDesktop(client) } else { try await Self.presentInTerminal(client) }
        }
    }

    private static func presentInTerminal(_ client: Bridge) async throws {
        let presenter = await TerminalPresenter(
            lines: LineReader(), forgetsEarlierLines: StandardInput.isTerminal, print: { Screen.output.write($0) },
            bold: { Screen.output.bold($0) })
        let registration = try await client.register("ui.alert") { (options: JSON, _) in
            try await presenter.show(options)
        }
        News.note("waiting for alerts")
        try await Ending.first([
            { try await client.ended() },
            {
                await presenter.ended()
                try await registration.unregister()
            },
        ])
    }

    private static func presentOnDesktop(_ client: Bridge) async throws {
        let bus = try await BusConnection()
        let presenter = try await DesktopPresenter(bus)
        var registration: Registration?
        let result = await Result.catching {
            if let trouble = await presenter.trouble() {
                News.note("no notification service yet, alerts go to the next presenter: \(trouble)")
            }
            registration = try await client.register("ui.alert") { (options: JSON, _) in
                try await presenter.show(options)
            }
            News.note("waiting for alerts")
            try await Ending.first([{ try await client.ended() }, { throw await bus.ended() }])
        }
        // Not cancelled with the command: no further alert arrives, and open alerts go to the next presenter.
        await Task {
            try? await registration?.unregister()
            await presenter.end()
            await bus.close()
        }.value
        try result.get()
    }
}

/// Waiting for several operations.
enum Ending {
    /// Waits for the first of these to end, cancels the others, and rethrows its error.
    static func first(_ bodies: [@Sendable () async throws -> Void]) async throws {
        try await withThrowingTaskGroup { group in
            for body in bodies { group.addTask { try await body() } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
