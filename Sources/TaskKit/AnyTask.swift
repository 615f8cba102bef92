internal import CTaskPlugin

/// A task of any kind with its types erased. The builder of `Plugin.init` creates it; code that collects tasks in an
/// array creates it directly.
public struct AnyTask: Sendable {
    let name: String
    let summary: String
    let settings: TaskSettings
    /// Whether the options are checked without the daemon: by decoding them, or by the task itself.
    let checksOptions: Bool
    /// The schemas of options, result and progress; `nil` if not described.
    let optionsSchema: @Sendable () throws(JSONSchemaError) -> JSON?
    let resultSchema: @Sendable () throws(JSONSchemaError) -> JSON?
    let progressSchema: @Sendable () throws(JSONSchemaError) -> JSON?
    let start: TaskStart

    /// Erases the types of a typed task.
    public init<T: BridgeTask>(_ task: T) {
        self.init(
            typed: T.self,
            start: TaskStart { runtime, request in
                let index = Int(request.pointee.number)
                runtime.perform(request) { line in
                    Task.immediate(executorPreference: runtime.executor) {
                        repeat {
                            do {
                                // Before the first suspension, because the request is not valid after it. Both are
                                // released before this waits for the next call.
                                let call = runtime.makeCall(line.request, cancelMark: line.mark)
                                if let options = runtime.options(T.Options.self, of: line) {
                                    runtime.succeed(call.handle, try await task.run(options, call))
                                }
                            } catch {
                                runtime.fail(line.handle, thrown: error)
                            }
                            guard runtime.keep(line, of: index) else { return }
                            await withUnsafeContinuation { line.wait($0) }
                        } while true
                    }
                }
            })
    }

    /// Erases the types of a typed task that awaits nothing.
    public init<T: ImmediateTask>(_ task: T) {
        self.init(
            typed: T.self,
            start: TaskStart { runtime, request in
                // Its calls are treated as those of a raw task that always replies before it returns.
                let call = runtime.makeCall(request, cancelMark: nil)
                runtime.rawCalls.run(call.handle) {
                    runtime.answer(call.handle, request.pointee.options.buffer) { options in
                        try task.run(options, call)
                    }
                }
            })
    }

    private init<T: BridgeTask>(typed task: T.Type, start: TaskStart) {
        name = T.name
        summary = T.summary
        settings = T.settings
        checksOptions = true
        optionsSchema = { () throws(JSONSchemaError) in
            if let given = T.optionsSchema { given } else { try JSONSchema.derive(from: T.Options.self) }
        }
        resultSchema = { () throws(JSONSchemaError) in
            if let given = T.resultSchema { given } else { try JSONSchema.derive(from: T.Result.self) }
        }
        progressSchema = { () throws(JSONSchemaError) in
            if let given = T.progressSchema { return given }
            // A plain `nil` would mean JSON's null.
            return T.Progress.self == Never.self ? .none : .some(try JSONSchema.derive(from: T.Progress.self))
        }
        self.start = start
    }

    /// Erases the types of a raw task.
    public init<T: RawTask>(_ task: T) {
        name = T.name
        summary = T.summary
        settings = T.settings
        checksOptions = T.checksOptions
        optionsSchema = { () throws(JSONSchemaError) in T.optionsSchema }
        resultSchema = { () throws(JSONSchemaError) in T.resultSchema }
        progressSchema = { () throws(JSONSchemaError) in T.progressSchema }
        start = TaskStart { runtime, request in
            let call = runtime.makeCall(request, cancelMark: nil)
            runtime.rawCalls.run(request.pointee.call) {
                // Not retained, because a runtime is never released.
                let reply = Reply(handle: request.pointee.call, runtime: Unmanaged.passUnretained(runtime))
                task.run(request.pointee.options.buffer.bytes, call, reply)
            }
        }
    }
}

/// Begins the calls of one task. An object, because a closure in an array is retained for each use. A closure in an
/// object that outlives the plugin's runtime is not retained.
final class TaskStart: Sendable {
    /// Loop thread; the request is borrowed until it returns.
    let body: @Sendable (PluginRuntime, UnsafePointer<trestle_request>) -> Void

    init(_ body: @escaping @Sendable (PluginRuntime, UnsafePointer<trestle_request>) -> Void) {
        self.body = body
    }
}

/// A result builder that collects the tasks in the braces of `Plugin.init`.
@resultBuilder
public enum TaskBuilder {
    /// Converts a line with a typed task.
    public static func buildExpression(_ task: some BridgeTask) -> [AnyTask] { [AnyTask(task)] }
    /// Converts a line with a typed task that awaits nothing.
    public static func buildExpression(_ task: some ImmediateTask) -> [AnyTask] { [AnyTask(task)] }
    /// Converts a line with a raw task.
    public static func buildExpression(_ task: some RawTask) -> [AnyTask] { [AnyTask(task)] }
    /// Accepts a line with tasks that were collected elsewhere.
    public static func buildExpression(_ tasks: [AnyTask]) -> [AnyTask] { tasks }
    /// Joins all lines, in their order.
    public static func buildBlock(_ tasks: [AnyTask]...) -> [AnyTask] { tasks.flatMap { $0 } }
    /// Converts an `if` without `else`.
    public static func buildOptional(_ tasks: [AnyTask]?) -> [AnyTask] { tasks ?? [] }
    /// Converts the first branch of an `if` with `else`.
    public static func buildEither(first tasks: [AnyTask]) -> [AnyTask] { tasks }
    /// Converts the second branch of an `if` with `else`.
    public static func buildEither(second tasks: [AnyTask]) -> [AnyTask] { tasks }
    /// Joins the iterations of a `for`.
    public static func buildArray(_ tasks: [[AnyTask]]) -> [AnyTask] { tasks.flatMap { $0 } }
}
