import BridgeJSON
import BridgeMessage

@testable import TaskRuntime

/// Options of which a check is left to the lane: longer than what is read on the loop.
enum LongOptions {
    static let fitting = #"{"s":"\#(String(repeating: "x", count: 5_000))"}"#
    static let misfitting = #"{"s":7,"t":"\#(String(repeating: "x", count: 5_000))"}"#
    static let schema = #"{"type":"object","properties":{"s":{"type":"string"}}}"#

    /// A task whose options have that schema.
    static func task(_ name: String, concurrency: Int? = nil) -> TaskDescription {
        TaskDescription(
            name: name, concurrency: concurrency, schemas: TaskSchemas(options: try? JSON(parsing: schema)))
    }
}
