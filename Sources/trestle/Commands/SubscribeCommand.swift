import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle subscribe`
struct SubscribeCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Shows events as they arrive, until it is interrupted.",
        discussion: """
            When the connection is lost, for example at a restart of the daemon, the command connects again and \
            continues. Events that are published meanwhile are missed: the event bridge.events_dropped, with the count \
            null, is shown instead, and --count does not count it. Standard error reports the lost and the new \
            connection.

            EXAMPLES
              trestle subscribe '*'
              trestle subscribe record.changed 'session.*'
              trestle subscribe login.changed --count 1
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var reconnecting: ReconnectOptions
    @ParentCommand var root: Trestle

    @Argument(help: ArgumentHelp("Names of events; * at the end is a wildcard.", valueName: "pattern"))
    var patterns: [String]

    @Option(help: ArgumentHelp("End after this number of events.", valueName: "number"))
    var count: Int?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count: expected a number of at least 1") }
    }

    func run() async throws {
        try await withClient(reconnect: reconnecting.reconnection) { client in
            let events = try await client.subscribe(to: patterns)
            // Concurrent to the events, which do not wait for it; cancelled if the command ends first.
            async let _ = UnknownEvents.mention(in: patterns, client)
            var left = count ?? .max
            for try await event in events {
                show(event)
                // The replacement of missed events does not count.
                if event.name != "bridge.events_dropped" { left -= 1 }
                if left == 0 { break }
            }
        }
    }

    private func show(_ event: BridgeEvent) {
        let screen = screen
        if screen.isForPeople {
            screen.write("\(screen.bold(PlainText.line(event.name)))  \(PlainText.line(event.data.text))\n")
        } else {
            screen.show(["event": .string(event.name), "data": event.data])
        }
    }
}
