import BridgeJSON
import BridgeMessage

/// What an interceptor decided about a call. Texts are borrowed from its answer.
enum InterceptorDecision {
    /// The call goes on as it is.
    case pass
    /// It goes on with other options.
    case rewrite(UnsafeRawBufferPointer)
    /// It becomes a call of another task; without options of the decision it keeps its own.
    case redirect(String, UnsafeRawBufferPointer?)
    /// It ends with this result.
    case answer(UnsafeRawBufferPointer)
    /// It ends with this error.
    case refuse(BridgeError)
    /// There is no decision: the interceptor failed.
    case failure(BridgeError)

    /// Reads an interceptor's answer. Nothing of it is taken for a decision that is none.
    init(_ outcome: CallOutcome, of interceptor: Interceptor, _ check: JSONCheck) {
        switch outcome {
        case .failure(let error): self = Self.isFault(error) ? .failure(error) : .refuse(error)
        case .result(let text):
            do throws(NoDecision) {
                self = try Self.read(text, check)
            } catch {
                let reason = "\(interceptor.label) answered with no decision: \(error.reason)"
                self = .failure(BridgeError(.replyInvalid, reason))
            }
        }
    }

    /// The word for what was decided, in lines of traffic.
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

    /// An error is a refusal, unless it says that there was no interceptor to refuse: the plugin's code fell over, or
    /// its process, or it knows nothing of interceptors. Who means such a code says it as a decision.
    private static func isFault(_ error: BridgeError) -> Bool {
        [.internal, .taskNotFound, .replyMissing, .replyInvalid].contains(error.code)
            || error.code.rawValue.hasPrefix("plugin.")
    }

    private struct NoDecision: Error {
        var reason: String
    }

    /// The members that an answer may have; each stands alone, but that `task` may have `options` beside it.
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
            case let other: fault = fault ?? "the member \(JSON.string(other).text) is none of a decision"
            }
        }

        private mutating func put(
            _ value: UnsafeRawBufferPointer, _ member: WritableKeyPath<Members, UnsafeRawBufferPointer?>
        ) {
            if self[keyPath: member] != nil { fault = fault ?? "a member occurs twice" }
            self[keyPath: member] = value
        }

        /// How many of those there are of which there may be one.
        var kinds: Int {
            [pass, task, result, error, task == nil ? options : nil].reduce(0) { $0 + ($1 == nil ? 0 : 1) }
        }
    }

    /// Whether an object has more members than that. Of what is no JSON, whatever a walk finds.
    private static func hasMore(than count: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        var cursor = MemberCursor(text)
        for _ in 0..<count { guard cursor.next() != nil else { return false } }
        return cursor.next() != nil
    }

    private static func read(
        _ text: UnsafeRawBufferPointer, _ check: JSONCheck
    ) throws(NoDecision) -> InterceptorDecision {
        // Found before the whole is looked at: a long object of many members costs as much as a short one.
        guard !hasMore(than: Members.maximum, text) else {
            throw NoDecision(reason: "it has more than \(Members.maximum) members")
        }
        var members = Members()
        // Its own level is not one of the call's.
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

    /// As long may be what is made into values here.
    private static let maximumBytes = TaskDescription.usualOptionBytes

    private static func name(_ text: UnsafeRawBufferPointer) throws(NoDecision) -> String {
        guard text.count <= maximumBytes, let name = (try? JSON(parsing: text))?.stringValue, !name.isEmpty else {
            throw NoDecision(reason: "task is not the name of one")
        }
        return name
    }

    private static func read(error text: UnsafeRawBufferPointer) throws(NoDecision) -> BridgeError {
        guard text.count <= maximumBytes else { throw NoDecision(reason: "error has more than \(maximumBytes) bytes") }
        guard let json = try? JSON(parsing: text), let error = BridgeError(json: json) else {
            throw NoDecision(reason: "error is no object with code and message")
        }
        return error
    }
}
