/// Decides about calls before their tasks receive them.
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
/// One value of the type serves every call. Decisions can overlap at each `await`. Of several interceptors, the one
/// that was registered last decides first: plugins register in the order in which they started, and a plugin's
/// interceptors in the order in which they were added to it.
///
/// Interceptors receive no calls of the daemon's own tasks or of private tasks.
public protocol Interceptor: Sendable {
    /// The name that operators see, under the rules of `BridgeTask.name`, unique in its plugin.
    static var name: String { get }

    /// One sentence for operators.
    static var summary: String { get }

    /// The effect on a call if the interceptor fails: its process ends, it throws an error that is no `BridgeError`, or
    /// its plugin is stopped. The default, `refuse`: the call ends with the failure.
    static var onFailure: InterceptorFailure { get }

    /// The tasks whose calls it decides about: names, or prefixes of names followed by `*`.
    ///
    /// Read when the plugin is assembled, after it has started, and after it has stored a new configuration, so the
    /// list may depend on the configuration. Loop thread.
    var tasks: [String] { get }

    /// Decides about one call.
    ///
    /// - It runs as `BridgeTask.run` does: on the daemon's loop thread, which it must not block, and up to its first
    ///   suspension before the next decision begins. An interceptor that needs no `await` adds a few microseconds to a
    ///   call.
    /// - Until it has decided, later calls of the same session to the same plugin wait behind the call, unless
    ///   interceptors answer them. The call's deadline still applies, and ends the call whatever `onFailure` is.
    /// - If the call ends first, because its caller cancels it or disconnects, or its deadline passes, the Swift task
    ///   that this runs in is cancelled, and its result is dropped.
    /// - Throws: A `BridgeError` refuses the call: its caller receives that error. A `CancellationError` refuses it
    ///   with `call.cancelled`. Any other error is a failure of the interceptor.
    func intercept(_ call: InterceptedCall) async throws -> Decision
}

extension Interceptor {
    /// `refuse`: the call ends with the failure.
    public static var onFailure: InterceptorFailure { .refuse }
}

/// The effect on a call if its interceptor fails.
public enum InterceptorFailure: String, Sendable, Hashable, CaseIterable {
    /// The call ends with the failure: for interceptors that calls must not bypass, such as those that forbid
    /// something.
    case refuse
    /// The call continues without the interceptor: for interceptors that only help, such as caches.
    case pass
}

/// An interceptor's decision about a call. To refuse the call, throw a `BridgeError`.
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

    /// Passes the call on unchanged: to the next interceptor, or after the last one to its task.
    public static var pass: Decision { Decision(kind: .pass) }

    /// Passes the call on with other options. The task checks them as if the caller had sent them.
    public static func rewrite(_ options: some Encodable & Sendable) -> Decision {
        Decision(kind: .rewrite(options))
    }

    /// Redirects the call to another task, with the call's own options. Its caller must be allowed to call that task.
    /// The interceptors of that task that have not received the call yet are called.
    public static func redirect(to task: String) -> Decision { Decision(kind: .redirect(task, nil)) }

    /// Redirects the call to another task, with other options; see `redirect(to:)`.
    public static func redirect(to task: String, options: some Encodable & Sendable) -> Decision {
        Decision(kind: .redirect(task, options))
    }

    /// Ends the call with this result; its task does not receive the call.
    public static func answer(_ result: some Encodable & Sendable) -> Decision { Decision(kind: .answer(result)) }

    /// Ends the call with this result, which is JSON already. The daemon checks it.
    public static func answer(raw result: [UInt8]) -> Decision { Decision(kind: .answerRaw(result)) }

    /// Returns the decision in the form that `trestle_plugin.h` defines.
    ///
    /// - Throws: An error if a part of it has no JSON form.
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
