import BridgeJSON

// A recording: lines of JSON. The first says what the file is, each other is a line of traffic as bridge.monitor sends
// it, with the time since the recording began; the last says that it is whole.

/// What a recording has of one call by a client.
struct RecordedCall: Equatable, Sendable {
    /// How it ended.
    enum Outcome: Equatable, Sendable {
        case result(JSON)
        case error(JSON)
        /// A payload that was too long to be kept: its beginning as text.
        case cut(isError: Bool, beginning: String)
    }

    /// Its options, or why there are none.
    enum Options: Equatable, Sendable {
        case whole(JSON)
        case masked
        case cut
    }

    /// Where it stands in the file, from 1.
    var line: Int
    var number: Int64
    var session: Int64
    var task: String
    var options: Options
    /// Whether one of its options, or its result, was a stream.
    var hasStream = false
    var isOneWay: Bool
    var offset: Duration
    /// Whether a client worked on it.
    var wasForwarded = false
    /// The line of its end; nil: it has not ended, or the end was not kept.
    var endLine: Int?
    var took = Duration.zero
    var outcome: Outcome?
}

/// A recording that has been read.
struct Recording: Equatable, Sendable {
    static let version: Int64 = 1
    /// What stands for a secret.
    static let placeholder: JSON = "<private>"
    /// What stands for the name of a stream.
    static let stream: JSON = "<stream>"

    /// Of clients, in the order in which they began.
    var calls: [RecordedCall] = []
    /// Calls by plugins and the daemon itself.
    var foreignCalls = 0
    /// Messages that began nothing.
    var refusals = 0
    /// Lines that the daemon dropped, because they came faster than they were read.
    var lostLines: Int64 = 0
    /// Whether the recording came to its end; else something of it may be missing.
    var isWhole = false

    /// Whether a value stands somewhere in another one.
    static func has(_ value: JSON, in whole: JSON) -> Bool {
        switch whole {
        case value: true
        case .array(let elements): elements.contains { has(value, in: $0) }
        case .object(let members): members.contains { has(value, in: $0.value) }
        default: false
        }
    }

    /// Whether a stream stands somewhere in a payload.
    ///
    /// - Parameter isCut: it is the beginning of a payload, as text.
    static func hasStream(_ payload: JSON, isCut: Bool) -> Bool {
        guard isCut else { return has(stream, in: payload) }
        return payload.stringValue?.contains(stream.text) == true
    }
}
