/// A stable error code for programs; the message may change. Tasks have codes of their own that begin with their name,
/// such as `record.not_found`.
public struct ErrorCode: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The code on the wire.
    public let rawValue: String

    /// Creates a code from its text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a code from its text.
    public init(stringLiteral value: String) { rawValue = value }
    /// The code on the wire.
    public var description: String { rawValue }

    /// The line or item is not a message.
    public static let messageInvalid: ErrorCode = "message.invalid"
    /// The line exceeds the maximum length of a message.
    public static let messageTooLarge: ErrorCode = "message.too_large"
    /// There is no such task.
    public static let taskNotFound: ErrorCode = "task.not_found"
    /// The options do not match the task. Data: `path`, `expected`, `got`.
    public static let optionsInvalid: ErrorCode = "options.invalid"
    /// A rule forbids the call. Data: `rule`.
    public static let permissionDenied: ErrorCode = "permission.denied"
    /// The deadline passed.
    public static let callTimeout: ErrorCode = "call.timeout"
    /// The caller or an operator cancelled the call.
    public static let callCancelled: ErrorCode = "call.cancelled"
    /// A call with this id is in flight.
    public static let callDuplicate: ErrorCode = "call.duplicate"
    /// A limit is reached; the caller can try again.
    public static let busy: ErrorCode = "busy"
    /// A quota is exceeded. Data: `quota`, `limit`, `of`. Waiting alone does not help.
    public static let quotaExceeded: ErrorCode = "quota.exceeded"
    /// The plugin is not running.
    public static let pluginUnavailable: ErrorCode = "plugin.unavailable"
    /// The plugin ended while it worked on the call.
    public static let pluginCrashed: ErrorCode = "plugin.crashed"
    /// The plugin did not answer the call.
    public static let replyMissing: ErrorCode = "reply.missing"
    /// The provider's answer is invalid.
    public static let replyInvalid: ErrorCode = "reply.invalid"
    /// The result exceeds the maximum length of a message.
    public static let resultTooLarge: ErrorCode = "result.too_large"
    /// The client that worked on the call has disconnected.
    public static let providerClosed: ErrorCode = "provider.closed"
    /// The caller's own session is closed, or its connection is lost.
    public static let sessionClosed: ErrorCode = "session.closed"
    /// The task works on the caller's session, but the caller is a plugin in its own name and has none.
    public static let sessionMissing: ErrorCode = "session.missing"
    /// There is no such session.
    public static let sessionNotFound: ErrorCode = "session.not_found"
    /// No daemon listens at the socket, or it does not answer. Created by client libraries.
    public static let daemonUnreachable: ErrorCode = "daemon.unreachable"
    /// The socket exists, but this user may not open it. Created by client libraries.
    public static let connectionDenied: ErrorCode = "connection.denied"
    /// A result does not match the type that the caller requests. Created by client libraries and TaskKit.
    public static let resultInvalid: ErrorCode = "result.invalid"
    /// The daemon is stopping.
    public static let daemonStopping: ErrorCode = "daemon.stopping"
    /// No stream has this name, it has ended, or the caller may not use it. The three cases look alike.
    public static let streamNotFound: ErrorCode = "stream.not_found"
    /// A stream ended before it was complete. Data: `by` (`writer`, `reader` or `daemon`), the `bytes` that the reader
    /// got, and the `error` that was given.
    public static let streamClosed: ErrorCode = "stream.closed"
    /// No caller took the other end of the stream in time.
    public static let streamUnclaimed: ErrorCode = "stream.unclaimed"
    /// The bytes or the request are invalid for the stream, or the received bytes differ from those sent.
    public static let streamInvalid: ErrorCode = "stream.invalid"
    /// An unexpected failure.
    public static let `internal`: ErrorCode = "internal"
    /// The configuration is invalid. Data: `path`, `expected`, `got` for a plugin's section; `problems` for the
    /// daemon's file.
    public static let configurationInvalid: ErrorCode = "configuration.invalid"
}

/// The error object of the bridge protocol: the reason why a call ended, or why a message is invalid.
public struct BridgeError: Error, Sendable, Hashable {
    /// The code, for programs.
    public var code: ErrorCode
    /// One sentence for a person: what happened, where, and what to do.
    public var message: String
    /// Additional data, which depends on the code.
    public var data: JSON?
    /// Whether the same call may succeed later.
    public var isTransient: Bool {
        get { flags.contains(.transient) }
        set { flags.set(.transient, newValue) }
    }
    /// Whether the message was not written for callers: it comes from a library or from the system, and may contain
    /// file names. The daemon writes it to its log, and shows it only to trusted callers.
    public var isUnforeseen: Bool {
        get { flags.contains(.unforeseen) }
        set { flags.set(.unforeseen, newValue) }
    }
    private var flags: Flags
    /// The time after which a retry makes sense; nil if unknown.
    public var retryAfter: Duration?

    /// Whether the task had begun its work on the call, according to `data`. False if it certainly had not; true if the
    /// call may have had an effect; nil if unknown.
    public var started: Bool? { data?["started"]?.boolValue }

    /// Creates an error.
    public init(
        _ code: ErrorCode, _ message: String, data: JSON? = nil, isTransient: Bool = false, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.data = data
        flags = isTransient ? .transient : []
        self.retryAfter = retryAfter
    }

    /// Creates the error for options that do not match their type.
    ///
    /// - Parameter noun: the caller's term for a member.
    public init(_ mismatch: JSONMismatch, noun: String = "option") {
        var data: JSONObject = [
            "path": .string(mismatch.path), "expected": .string(mismatch.expected), "got": .string(mismatch.got),
        ]
        data["known"] = mismatch.knownKeys.map { .array($0.map(JSON.string)) }
        self.init(.optionsInvalid, mismatch.sentence(noun: noun), data: .object(data))
    }

    /// Reads an error object; nil if `json` is not an object with the strings `code` and `message`. `unforeseen` is not
    /// read: the reader decides whether it trusts the sender on that.
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

    /// Returns whole milliseconds from 0 to the maximum of 64 bits, rounded up, so that a caller that waits does not
    /// return too early.
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

// Errors about values that do not fit into a message. The clients in other languages use the same text.
extension BridgeError {
    /// The end of errors about a message that is too long; it names the alternative.
    package static let goesAsStream = "send data of this size as a stream"

    /// Returns the error for a result that does not fit into a message.
    ///
    /// - Parameters:
    ///   - resultBytes: The length of the result.
    ///   - messageBytes: The maximum length of a message.
    package static func resultTooLarge(_ resultBytes: Int, messageBytes: Int) -> BridgeError {
        BridgeError(
            .resultTooLarge,
            "the result of \(resultBytes) bytes is longer than the \(messageBytes) that a message may have: "
                + goesAsStream)
    }
}

extension BridgeError: CustomStringConvertible {
    /// The message and the code.
    public var description: String { "\(message) (\(code))" }
}

/// The Boolean properties of an error.
private struct Flags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let transient = Flags(rawValue: 1)
    static let unforeseen = Flags(rawValue: 2)

    mutating func set(_ flag: Flags, _ isSet: Bool) {
        if isSet { insert(flag) } else { remove(flag) }
    }
}
