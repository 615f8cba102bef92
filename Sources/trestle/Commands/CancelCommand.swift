import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle cancel`
struct CancelCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Ends a call in flight: its caller gets call.cancelled.",
        discussion: """
            EXAMPLES
              trestle calls
              trestle cancel 4711
            """,
        aliases: ["kill"])

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The call's number, as `trestle calls` shows it.")
    var call: UInt64

    func run() async throws {
        try await withClient { client in
            _ = try await client.callJSON("bridge.kill", ["call": .number(JSONNumber(call))])
        }
    }
}
