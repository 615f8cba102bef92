import ArgumentParser
import BridgeJSON

/// A task and its options, as arguments of `trestle call` and `trestle notify`.
struct TaskArguments: ParsableArguments {
    @Argument(help: "The task's name.", completion: TaskCompletion.tasks)
    var task: String

    @Argument(
        help: ArgumentHelp(
            "The options; - reads them from standard input. Without any: {}.", valueName: "json | key=value | -"),
        completion: TaskCompletion.options)
    var options: [String] = []

    @Option(help: ArgumentHelp("Only the task that this session registered.", valueName: "number"))
    var session: SessionID?

    func validate() throws {
        if options != ["-"] { _ = try CallArguments.options(options) }
    }

    /// Returns the options from the command line or standard input.
    func json() throws -> JSON {
        options == ["-"] ? try StandardInput.json() : try CallArguments.options(options)
    }
}

extension SessionID: ExpressibleByArgument {}
