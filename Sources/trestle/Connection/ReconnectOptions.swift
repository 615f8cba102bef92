import ArgumentParser
import BridgeClient

/// Whether a command that goes on without end connects again.
struct ReconnectOptions: ParsableArguments {
    @Flag(
        name: .customLong("no-reconnect"),
        help: "End when the connection is lost (exit status 75), instead of connecting again.")
    var endsWithConnection = false

    /// Nil: not at all.
    var reconnection: Reconnection? { endsWithConnection ? nil : Reconnection() }
}
