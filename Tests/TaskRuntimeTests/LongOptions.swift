import BridgeJSON
import BridgeMessage

@testable import TaskRuntime

/// Options that are too long to be checked on the loop, so that the lane checks them.
enum LongOptions {
    static let fitting = #"{"s":"\#(String(repeating: "x", count: 5_000))"}"#
    static let misfitting = #"{"s":7,"t":"\#(String(repeating: "x", count: 5_000))"}"#
    static let schema = #"{"type":"object","properties":{"s":{"type":"string"}}}"#

    /// Returns a task whose options have this schema.
    static func task(_ name: String, concurrency: Int? = nil) -> TaskDescription {
        TaskDescription(
            name: name, concurrency: concurrency, schemas: TaskSchemas(options: try? JSON(parsing: schema)))
    }
}
