/// A stable code, for programs: what went wrong, whatever the words around it say. Tasks have codes of their own, under
/// their own name: `record.not_found`.
public struct ErrorCode: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The code on the wire.
    public let rawValue: String

    /// A code.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A code.
    public init(stringLiteral value: String) { rawValue = value }
    /// The code on the wire.
    public var description: String { rawValue }

    /// The line or item is no message.
    public static let messageInvalid: ErrorCode = "message.invalid"
    /// The line is longer than a message may be.
    public static let messageTooLarge: ErrorCode = "message.too_large"
    /// There is no such task.
    public static let taskNotFound: ErrorCode = "task.not_found"
    /// The options do not fit the task: data `path`, `expected`, `got`.
    public static let optionsInvalid: ErrorCode = "options.invalid"
    /// A rule forbids it: data `rule`.
    public static let permissionDenied: ErrorCode = "permission.denied"
    /// The deadline passed.
    public static let callTimeout: ErrorCode = "call.timeout"
    /// The caller, or an operator, ended it.
    public static let callCancelled: ErrorCode = "call.cancelled"
    /// A call with this id is in flight.
    public static let callDuplicate: ErrorCode = "call.duplicate"
    /// A bound is reached; try again.
    public static let busy: ErrorCode = "busy"
    /// More than may be had: data `quota`, `limit`, `of`. Time alone does not change it.
    public static let quotaExceeded: ErrorCode = "quota.exceeded"
    /// The plugin is not running.
    public static let pluginUnavailable: ErrorCode = "plugin.unavailable"
    /// The plugin ended while it worked on the call.
    public static let pluginCrashed: ErrorCode = "plugin.crashed"
    /// The plugin dropped the call.
    public static let replyMissing: ErrorCode = "reply.missing"
    /// The provider's answer makes no sense.
    public static let replyInvalid: ErrorCode = "reply.invalid"
    /// The result is longer than a message may be.
    public static let resultTooLarge: ErrorCode = "result.too_large"
    /// The client that worked on the call is gone.
    public static let providerClosed: ErrorCode = "provider.closed"
    /// The own session is closed, or its connection is lost.
    public static let sessionClosed: ErrorCode = "session.closed"
    /// The task works on the caller's session, and the caller, a plugin in its own name, has none.
    public static let sessionMissing: ErrorCode = "session.missing"
    /// There is no such session.
    public static let sessionNotFound: ErrorCode = "session.not_found"
    /// No daemon listens at the socket, or it does not answer. Made by client libraries.
    public static let daemonUnreachable: ErrorCode = "daemon.unreachable"
    /// There is a socket, but this user may not open it. Made by client libraries.
    public static let connectionDenied: ErrorCode = "connection.denied"
    /// A result does not fit the type that the caller wants. Made by client libraries and TaskKit.
    public static let resultInvalid: ErrorCode = "result.invalid"
    /// The daemon is stopping.
    public static let daemonStopping: ErrorCode = "daemon.stopping"
    /// No stream has this name, it is over, or the caller may not use it: the three look alike.
    public static let streamNotFound: ErrorCode = "stream.not_found"
    /// A stream ended before it was complete. Data: `by` (`writer`, `reader` or `daemon`), the `bytes` that the reader
    /// got, and the `error` that was given.
    public static let streamClosed: ErrorCode = "stream.closed"
    /// Nobody took the other end of the stream in time.
    public static let streamUnclaimed: ErrorCode = "stream.unclaimed"
    /// What was sent makes no sense for the stream, or other bytes came than were sent.
    public static let streamInvalid: ErrorCode = "stream.invalid"
    /// Something went wrong that should not have.
    public static let `internal`: ErrorCode = "internal"
    /// The configuration is invalid: of a plugin's section, data `path`, `expected`, `got`; of the daemon's file, data
    /// `problems`.
    public static let configurationInvalid: ErrorCode = "configuration.invalid"
}

/// The error object of the bridge protocol: what ended a call, or what is wrong with a message.
public struct BridgeError: Error, Sendable, Hashable {
    /// What went wrong, for programs.
    public var code: ErrorCode
    /// One sentence for a person: what happened, where, and what to do.
    public var message: String
    /// More, by code.
    public var data: JSON?
    /// Whether the same call may succeed later.
    public var isTransient: Bool {
        get { flags.contains(.transient) }
        set { flags.set(.transient, newValue) }
    }
    /// Its words were not written for callers: they come from a library or from the system, and may name files. The
    /// daemon writes them to its log, and shows them to trusted callers alone.
    public var isUnforeseen: Bool {
        get { flags.contains(.unforeseen) }
        set { flags.set(.unforeseen, newValue) }
    }
    private var flags: Flags
    /// When trying again makes sense.
    public var retryAfter: Duration?

    /// Whether the task had begun its work on the call, as `data` says: false where it certainly had not; true where
    /// the call may have had its effect; nil where it is not known.
    public var started: Bool? { data?["started"]?.boolValue }

    /// An error.
    public init(
        _ code: ErrorCode, _ message: String, data: JSON? = nil, isTransient: Bool = false, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.data = data
        flags = isTransient ? .transient : []
        self.retryAfter = retryAfter
    }

    /// The error for options that do not fit their type.
    ///
    /// - Parameter noun: what the caller knows a member as.
    public init(_ mismatch: JSONMismatch, noun: String = "option") {
        var data: JSONObject = [
            "path": .string(mismatch.path), "expected": .string(mismatch.expected), "got": .string(mismatch.got),
        ]
        data["known"] = mismatch.knownKeys.map { .array($0.map(JSON.string)) }
        self.init(.optionsInvalid, mismatch.sentence(noun: noun), data: .object(data))
    }

    /// Reads an error object; nil where it is none: an object with the strings `code` and `message`. That it is
    /// unforeseen is not read: of whom that is believed, the reader decides.
    public init?(json: JSON) {
        guard let code = json["code"]?.stringValue, !code.isEmpty, let message = json["message"]?.stringValue else {
            return nil
        }
        self.init(
            ErrorCode(rawValue: code), message, data: json["data"], isTransient: json["transient"]?.boolValue ?? false,
            retryAfter: json["retryAfter"]?.int64Value.map { .milliseconds(max(0, $0)) })
    }

    /// The error object.
    public var json: JSON {
        var object: JSONObject = ["code": .string(code.rawValue), "message": .string(message)]
        object["data"] = data
        if isTransient { object["transient"] = true }
        if isUnforeseen { object["unforeseen"] = true }
        if let retryAfter { object["retryAfter"] = .number(JSONNumber(Self.milliseconds(retryAfter))) }
        return .object(object)
    }

    /// Whole milliseconds, from 0 to what 64 bits hold, rounded up: who waits so long must not come too early.
    private static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, isBeyond) = whole.addingReportingOverflow(part)
        return overflow || isBeyond ? .max : sum
    }

    /// Appends the error object.
    public func write(to output: inout [UInt8]) { json.write(to: &output) }
}

// What does not fit into a message. The clients in other languages say the same.
extension BridgeError {
    /// What errors about a message that is too long end with: how it goes.
    package static let goesAsStream = "bytes of this size go as a stream"

    /// The error for a result that does not fit into a message.
    ///
    /// - Parameters:
    ///   - resultBytes: How long the result is.
    ///   - messageBytes: How long a message may be.
    package static func resultTooLarge(_ resultBytes: Int, messageBytes: Int) -> BridgeError {
        BridgeError(
            .resultTooLarge,
            "the result of \(resultBytes) bytes is longer than the \(messageBytes) that a message may have: "
                + goesAsStream)
    }
}

extension BridgeError: CustomStringConvertible {
    /// The sentence and the code.
    public var description: String { "\(message) (\(code))" }
}

/// What an error says by yes or no.
private struct Flags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let transient = Flags(rawValue: 1)
    static let unforeseen = Flags(rawValue: 2)

    mutating func set(_ flag: Flags, _ isSet: Bool) {
        if isSet { insert(flag) } else { remove(flag) }
    }
}
