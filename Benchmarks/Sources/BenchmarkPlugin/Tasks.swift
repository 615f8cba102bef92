// Two tasks with the same answer: the difference between their costs is the cost of types. And a task that crashes.
import Glibc
import TaskKit

/// A task with four options, three result fields and no suspension: the form of most plugin tasks.
struct Typed: ImmediateTask {
    static let name = "bench.typed"
    static let summary = "Takes an order apart and confirms it."
    struct Options: Codable, Sendable {
        var content: String
        var buttons: [String]
        var number: Int
        var flag: Bool
    }
    struct Result: Codable, Sendable {
        var content: String
        var number: Int
        var flag: Bool
    }

    func run(_ options: Options, _ call: Call) throws -> Result {
        Result(content: options.content, number: options.number + options.buttons.count, flag: !options.flag)
    }
}

/// Returns the answer of `bench.typed` to the benchmark's options, without reading the options.
struct Constant: RawTask {
    static let name = "bench.constant"
    static let summary = "Answers the same bytes to every call."

    private static let answer = Array(
        #"{"content":"A message of the usual size, for a person to read","number":12347,"flag":false}"#.utf8)

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        reply.succeed(Self.answer.span.bytes)
    }
}

/// Ends the plugin's process.
struct Crash: RawTask {
    static let name = "bench.crash"
    static let summary = "Ends the process in which it runs, as a fault does."

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) { abort() }
}

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin("bench", version: "1.0.0") {
        Typed()
        Constant()
        Crash()
    }
    .export()
}
