import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle publish`
struct PublishCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Sends an event to its subscribers.",
        discussion: """
            EXAMPLES
              trestle publish door.opened '{"floor": 2}'
              trestle publish door.state open=true --retain
              trestle publish door.state --forget
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The event's name.")
    var event: String

    @Argument(
        help: ArgumentHelp(
            "The event's data; - reads them from standard input. Without any: null.", valueName: "json | key=value | -")
    )
    var data: [String] = []

    @Flag(help: "Retain the event for later subscribers.")
    var retain = false

    @Flag(help: "Remove the retained event; nothing is sent.")
    var forget = false

    func validate() throws {
        if retain, forget { throw ValidationError("--retain and --forget exclude each other") }
        if forget, !data.isEmpty { throw ValidationError("--forget takes no data") }
        if !data.isEmpty, data != ["-"] { _ = try CallArguments.options(data, noun: "data") }
    }

    func run() async throws {
        let options = try options()
        try await withClient { client in _ = try await client.callJSON("bridge.publish", options) }
    }

    private func options() throws -> JSON {
        var options: JSONObject = ["event": .string(event)]
        if data == ["-"] {
            options["data"] = try StandardInput.json()
        } else if !data.isEmpty {
            options["data"] = try CallArguments.options(data, noun: "data")
        }
        if retain { options["retain"] = true }
        if forget { options["forget"] = true }
        return .object(options)
    }
}
