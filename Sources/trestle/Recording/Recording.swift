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

    /// Whether a secret stands somewhere in a value.
    static func isMasked(_ value: JSON) -> Bool {
        switch value {
        case placeholder: true
        case .array(let elements): elements.contains(where: isMasked)
        case .object(let members): members.contains { isMasked($0.value) }
        default: false
        }
    }
}
