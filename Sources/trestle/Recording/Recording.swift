import BridgeJSON

// A recording consists of JSON lines. The first describes the file. Each other is a line of traffic from
// bridge.monitor, with the time since the beginning of the recording. The last marks a complete recording.

/// The recorded data of one call by a client.
struct RecordedCall: Equatable, Sendable {
    /// The outcome of the call.
    enum Outcome: Equatable, Sendable {
        case result(JSON)
        case error(JSON)
        /// The beginning, as text, of a payload that was too long to record.
        case cut(isError: Bool, beginning: String)
    }

    /// The options, or the reason why they are missing.
    enum Options: Equatable, Sendable {
        case whole(JSON)
        case masked
        case cut
    }

    /// The line number in the file, from 1.
    var line: Int
    var number: Int64
    var session: Int64
    var task: String
    var options: Options
    /// Whether one of its options, or its result, was a stream.
    var hasStream = false
    var isOneWay: Bool
    var offset: Duration
    /// Whether the call was forwarded to a client.
    var wasForwarded = false
    /// The line number of its end; `nil` if it has not ended or if its end was not recorded.
    var endLine: Int?
    var took = Duration.zero
    var outcome: Outcome?
}

/// A recording that was read from a file.
struct Recording: Equatable, Sendable {
    static let version: Int64 = 1
    /// The placeholder for a secret.
    static let placeholder: JSON = "<private>"
    /// The placeholder for the name of a stream.
    static let stream: JSON = "<stream>"

    /// The calls by clients, in the order in which they began.
    var calls: [RecordedCall] = []
    /// The number of calls by plugins and by the daemon itself.
    var foreignCalls = 0
    /// The number of refused messages.
    var refusals = 0
    /// The number of lines that the daemon dropped because they were not read fast enough.
    var lostLines: Int64 = 0
    /// Whether the recording was completed; otherwise parts of it may be missing.
    var isWhole = false

    /// Returns whether a value occurs anywhere in another one.
    static func has(_ value: JSON, in whole: JSON) -> Bool {
        switch whole {
        case value: true
        case .array(let elements): elements.contains { has(value, in: $0) }
        case .object(let members): members.contains { has(value, in: $0.value) }
        default: false
        }
    }

    /// Returns whether a stream occurs anywhere in a payload.
    ///
    /// - Parameter isCut: Whether the payload is only the beginning, as text.
    static func hasStream(_ payload: JSON, isCut: Bool) -> Bool {
        guard isCut else { return has(stream, in: payload) }
        return payload.stringValue?.contains(stream.text) == true
    }
}
