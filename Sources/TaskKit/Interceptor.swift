/// Stands between callers and tasks: is asked about calls before their tasks get them, and decides what becomes of
/// each.
///
///     struct Cache: Interceptor {
///         static let name = "cache.records"
///         static let summary = "Answers reads from memory."
///         static let onFailure = InterceptorFailure.pass
///         let tasks = ["record.read"]
///         let memory = Memory()
///
///         func intercept(_ call: InterceptedCall) async throws -> Decision {
///             if let known = await memory.result(for: call.rawOptions) { return .answer(known) }
///             let result: JSON = try await call.proceed()
///             await memory.keep(result, for: call.rawOptions)
///             return .answer(result)
///         }
///     }
///
/// One value of the type serves every call; questions overlap wherever one of them awaits. Of several interceptors the
/// one that was registered last is asked first: plugins in the order in which they started, within a plugin in the
/// order in which they were given to it.
///
/// The daemon's own tasks and private ones are shown to no interceptor.
public protocol Interceptor: Sendable {
    /// Its name, under the rules of `BridgeTask.name`, unique in its plugin: operators see it.
    static var name: String { get }

    /// One sentence for operators.
    static var summary: String { get }

    /// What becomes of a call when this fails: its process ends, it throws what is no `BridgeError`, its plugin is
    /// stopped. The default, `refuse`: the call ends with the failure.
    static var onFailure: InterceptorFailure { get }

    /// The tasks whose calls it is asked about: names, or beginnings of names with a `*` behind them.
    ///
    /// Asked when the plugin is put together, when it has started, and when it has taken another configuration; so that
    /// it may come from that. Loop thread.
    var tasks: [String] { get }

    /// Decides about one call.
    ///
    /// - Runs as `BridgeTask.run` does: on the daemon's loop thread, which it must not block, and until its first
    ///   suspension before the next question. An interceptor that needs no `await` costs its calls a few microseconds.
    /// - Until it has decided, later calls of the same session to the same plugin wait behind the call, unless they are
    ///   answered by interceptors themselves. The call's deadline goes on, and ends the call whatever `failure` says.
    /// - When the call ends first, because its caller cancels it, leaves or runs out of time, the Swift task that this
    ///   runs in is cancelled, and what it returns goes nowhere.
    /// - Throws: A `BridgeError` refuses the call: its caller gets that error. A `CancellationError` refuses it with
    ///   `call.cancelled`. Anything else is a failure of the interceptor.
    func intercept(_ call: InterceptedCall) async throws -> Decision
}

extension Interceptor {
    /// The call ends with the failure.
    public static var onFailure: InterceptorFailure { .refuse }
}

/// What becomes of a call whose interceptor fails.
public enum InterceptorFailure: String, Sendable, Hashable, CaseIterable {
    /// It ends with the failure: for interceptors without which a call must not go on, such as those that forbid
    /// things.
    case refuse
    /// It goes on as if the interceptor were not there: for those that only help, such as caches.
    case pass
}

/// What an interceptor decided about a call. To refuse it, throw a `BridgeError`.
public struct Decision: Sendable {
    enum Kind: Sendable {
        case pass
        case rewrite(any Encodable & Sendable)
        case redirect(String, (any Encodable & Sendable)?)
        case answer(any Encodable & Sendable)
        case answerRaw([UInt8])
        case refuse(BridgeError)
    }

    let kind: Kind

    /// The call goes on as it is: to the next interceptor, after the last one to its task.
    public static var pass: Decision { Decision(kind: .pass) }

    /// The call goes on with other options. The task checks them as if its caller had sent them.
    public static func rewrite(_ options: some Encodable & Sendable) -> Decision {
        Decision(kind: .rewrite(options))
    }

    /// The call becomes one of another task, with its own options. Its caller must be allowed to call that task;
    /// interceptors of that task that have not seen the call are asked.
    public static func redirect(to task: String) -> Decision { Decision(kind: .redirect(task, nil)) }

    /// The call becomes one of another task, with other options; see `redirect(to:)`.
    public static func redirect(to task: String, options: some Encodable & Sendable) -> Decision {
        Decision(kind: .redirect(task, options))
    }

    /// The call ends with this result; its task never hears of it.
    public static func answer(_ result: some Encodable & Sendable) -> Decision { Decision(kind: .answer(result)) }

    /// The call ends with this result, which is JSON already. The daemon checks it.
    public static func answer(raw result: [UInt8]) -> Decision { Decision(kind: .answerRaw(result)) }

    /// The decision as `trestle_plugin.h` has it.
    ///
    /// - Throws: where something of it has no JSON.
    func text() throws(JSONEncodingError) -> [UInt8] {
        var text: [UInt8] = []
        switch kind {
        case .pass: text += #"{"pass":true"#.utf8
        case .rewrite(let options):
            text += #"{"options":"#.utf8
            try JSONCoding.encode(options, to: &text)
        case .redirect(let task, let options):
            text += #"{"task":"#.utf8
            text += JSON.string(task).bytes
            if let options {
                text += #","options":"#.utf8
                try JSONCoding.encode(options, to: &text)
            }
        case .answer(let result):
            text += #"{"result":"#.utf8
            try JSONCoding.encode(result, to: &text)
        case .answerRaw(let result):
            text += #"{"result":"#.utf8
            text += result
        case .refuse(let error):
            text += #"{"error":"#.utf8
            error.write(to: &text)
        }
        text += "}".utf8
        return text
    }
}
