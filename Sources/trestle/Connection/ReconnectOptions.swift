import ArgumentParser
import BridgeClient

/// The reconnect option of commands that run indefinitely.
struct ReconnectOptions: ParsableArguments {
    @Flag(
        name: .customLong("no-reconnect"),
        help: "End when the connection is lost (exit status 75), instead of connecting again.")
    var endsWithConnection = false

    /// The reconnect policy; `nil` if the command does not reconnect.
    var reconnection: Reconnection? { endsWithConnection ? nil : Reconnection() }
}
