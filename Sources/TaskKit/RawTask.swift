internal import CTaskPlugin

/// A task that receives and returns bytes, for work that is too performance-critical or too general for `BridgeTask`.
///
/// A raw task that replies before `run` returns costs one call through the C interface and no allocation.
public protocol RawTask: Sendable {
    /// The name that callers use, under the rules of `BridgeTask.name`.
    static var name: String { get }

    /// One sentence for `bridge.tasks` and `trestle tasks`.
    static var summary: String { get }

    /// Permission, deadline, concurrency, visibility; see `TaskSettings`.
    static var settings: TaskSettings { get }

    /// The JSON Schema of the options; `nil`, the default, if they are not described.
    static var optionsSchema: JSON? { get }

    /// Whether the task checks its options itself. If false, the default, and there is an `optionsSchema`, the daemon
    /// checks the options against it before it calls `run`. The check costs about as much as decoding the options.
    static var checksOptions: Bool { get }

    /// The JSON Schema of the result; `nil`, the default, if it is not described.
    static var resultSchema: JSON? { get }

    /// The JSON Schema of the progress; `nil`, the default, if it is not described.
    static var progressSchema: JSON? { get }

    /// Does the work of one call, or starts it.
    ///
    /// Called on the daemon's loop thread, in the order of the calls; must not block.
    ///
    /// - Parameters:
    ///   - options: One JSON value, checked by the daemon. Borrowed: copy the bytes that are needed after the return.
    ///   - call: The caller, and the operations available before the answer. May be stored.
    ///   - reply: The callback. Replying consumes it; this may happen here or later, on any thread.
    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply)
}

extension RawTask {
    /// No settings of its own.
    public static var settings: TaskSettings { TaskSettings() }
    /// Not described.
    public static var optionsSchema: JSON? { nil }
    /// False: the daemon checks the options.
    public static var checksOptions: Bool { false }
    /// Not described.
    public static var resultSchema: JSON? { nil }
    /// Not described.
    public static var progressSchema: JSON? { nil }
}

/// The one callback of a raw task's call.
///
/// It cannot be copied, and replying consumes it, so a second reply does not compile. If it is dropped without a reply,
/// it answers `reply.missing`. Every method may be called on any thread. On the loop thread of the daemon's own process
/// the callback takes effect before the method returns, unless something that another thread has sent still waits. In a
/// plugin process it takes effect soon after.
public struct Reply: ~Copyable, Sendable {
    let handle: trestle_call
    // Unmanaged because `discard self` requires a type with nothing to release; the runtime is never released.
    let runtime: Unmanaged<PluginRuntime>

    /// Ends the call with a result.
    ///
    /// - Parameter result: One JSON value. The daemon checks it, and answers `reply.invalid` if it is not valid JSON.
    public consuming func succeed(_ result: RawSpan) {
        let (handle, runtime) = (handle, runtime)
        discard self
        runtime._withUnsafeGuaranteedRef { runtime in
            runtime.rawCalls.end(handle, on: runtime.host)
            result.withUnsafeBytes { runtime.host.reply(handle, $0) }
        }
    }

    /// Ends the call with a result.
    ///
    /// - Parameter bytes: One JSON value. The daemon checks it, and answers `reply.invalid` if it is not valid JSON.
    public consuming func succeed(bytes: [UInt8]) {
        succeed(bytes.span.bytes)
    }

    /// Ends the call with an error.
    public consuming func fail(_ error: BridgeError) {
        let (handle, runtime) = (handle, runtime)
        discard self
        runtime._withUnsafeGuaranteedRef { runtime in
            runtime.rawCalls.end(handle, on: runtime.host)
            runtime.host.fail(handle, error)
        }
    }

    deinit {
        runtime._withUnsafeGuaranteedRef { runtime in
            runtime.rawCalls.end(handle, on: runtime.host)
            runtime.host.fail(
                handle,
                BridgeError(.replyMissing, "the plugin \(runtime.parts.name) did not answer the call"))
        }
    }
}
