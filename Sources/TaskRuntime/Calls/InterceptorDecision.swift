import BridgeJSON
import BridgeMessage

/// An interceptor's decision about a call. Texts are borrowed from its answer.
enum InterceptorDecision {
    /// The call continues unchanged.
    case pass
    /// It continues with other options.
    case rewrite(UnsafeRawBufferPointer)
    /// It becomes a call of another task; it keeps its options if the decision has none.
    case redirect(String, UnsafeRawBufferPointer?)
    /// It ends with this result.
    case answer(UnsafeRawBufferPointer)
    /// It ends with this error.
    case refuse(BridgeError)
    /// There is no decision: the interceptor failed.
    case failure(BridgeError)

    /// Reads an interceptor's answer. An invalid answer is never treated as a decision.
    init(_ outcome: CallOutcome, of interceptor: Interceptor, _ check: JSONCheck) {
        switch outcome {
        case .failure(let error): self = Self.isFault(error) ? .failure(error) : .refuse(error)
        case .result(let text):
            do throws(NoDecision) {
                self = try Self.read(text, check)
            } catch {
                let reason = "\(interceptor.label) sent an invalid decision: \(error.reason)"
                self = .failure(BridgeError(.replyInvalid, reason))
            }
        }
    }

    /// The name of the decision, in lines of traffic.
    var word: String {
        switch self {
        case .pass: "pass"
        case .rewrite: "rewrite"
        case .redirect: "redirect"
        case .answer: "answer"
        case .refuse: "refuse"
        case .failure: "failure"
        }
    }

    /// Whether an error is a failure instead of a refusal: the plugin's code or its process failed, or it does not
    /// support interceptors. To refuse with such a code, an interceptor must return it as a decision.
    private static func isFault(_ error: BridgeError) -> Bool {
        [.internal, .taskNotFound, .replyMissing, .replyInvalid].contains(error.code)
            || error.code.rawValue.hasPrefix("plugin.")
    }

    private struct NoDecision: Error {
        var reason: String
    }

    /// The members that an answer may have. Exactly one is allowed, except that `options` may accompany `task`.
    private struct Members {
        static let maximum = 2

        var pass: UnsafeRawBufferPointer?
        var options: UnsafeRawBufferPointer?
        var task: UnsafeRawBufferPointer?
        var result: UnsafeRawBufferPointer?
        var error: UnsafeRawBufferPointer?
        var fault: String?

        mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
            switch String(decoding: name.prefix(64), as: UTF8.self) {
            case "pass": put(value, \.pass)
            case "options": put(value, \.options)
            case "task": put(value, \.task)
            case "result": put(value, \.result)
            case "error": put(value, \.error)
            case let other: fault = fault ?? "the member \(JSON.string(other).text) is not one of a decision"
            }
        }

        private mutating func put(
            _ value: UnsafeRawBufferPointer, _ member: WritableKeyPath<Members, UnsafeRawBufferPointer?>
        ) {
            if self[keyPath: member] != nil { fault = fault ?? "a member occurs twice" }
            self[keyPath: member] = value
        }

        /// The number of members of which exactly one is allowed.
        var kinds: Int {
            [pass, task, result, error, task == nil ? options : nil].reduce(0) { $0 + ($1 == nil ? 0 : 1) }
        }
    }

    /// Whether an object has more than `count` members. For invalid JSON the result is arbitrary.
    private static func hasMore(than count: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        var cursor = MemberCursor(text)
        for _ in 0..<count { guard cursor.next() != nil else { return false } }
        return cursor.next() != nil
    }

    private static func read(
        _ text: UnsafeRawBufferPointer, _ check: JSONCheck
    ) throws(NoDecision) -> InterceptorDecision {
        // Checked first, so that a long object with many members costs no more than a short one.
        guard !hasMore(than: Members.maximum, text) else {
            throw NoDecision(reason: "it has more than \(Members.maximum) members")
        }
        var members = Members()
        // The decision's own nesting level does not count for the call.
        let fault = check.cut(text, levelsAround: 0) { members.take($0, $1) }
        if let fault { throw NoDecision(reason: fault) }
        if let fault = members.fault { throw NoDecision(reason: fault) }
        guard members.kinds == 1 else {
            throw NoDecision(
                reason: "it has \(members.kinds == 0 ? "none" : "several") of pass, options, task, result and error")
        }
        if let task = members.task { return .redirect(try name(task), members.options) }
        if let options = members.options { return .rewrite(options) }
        if let result = members.result { return .answer(result) }
        if let error = members.error { return .refuse(try read(error: error)) }
        guard let pass = members.pass, pass.elementsEqual("true".utf8) else {
            throw NoDecision(reason: "pass is not true")
        }
        return .pass
    }

    /// The maximum length of texts that are converted to values here.
    private static let maximumBytes = TaskDescription.usualOptionBytes

    private static func name(_ text: UnsafeRawBufferPointer) throws(NoDecision) -> String {
        guard text.count <= maximumBytes, let name = (try? JSON(parsing: text))?.stringValue, !name.isEmpty else {
            throw NoDecision(reason: "task is not the name of a task")
        }
        return name
    }

    private static func read(error text: UnsafeRawBufferPointer) throws(NoDecision) -> BridgeError {
        guard text.count <= maximumBytes else { throw NoDecision(reason: "error has more than \(maximumBytes) bytes") }
        guard let json = try? JSON(parsing: text), let error = BridgeError(json: json) else {
            throw NoDecision(reason: "error is not an object with code and message")
        }
        return error
    }
}
