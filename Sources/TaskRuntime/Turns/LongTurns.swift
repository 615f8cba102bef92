/// The current step of the runtime. It is noted with every step, at the cost of one or two stores, so that a long turn
/// of the loop can be attributed to a step.
struct RuntimeStep {
    /// The kind of a step.
    enum Kind: UInt8 {
        /// A call of the task of ``number``, made by a session.
        case call
        /// A call that is refused.
        case refusal
        /// A message other than a call.
        case message
        /// A line that is not a valid message.
        case line
        /// The beginning or end of a connection.
        case connection
        /// Calls whose deadline has passed.
        case deadlines
        /// Work for a user that was left over from an earlier turn.
        case job
        /// A message or a call of the plugin of ``number``, or work for it.
        case plugin

        /// The name in the status and the log.
        var name: String {
            switch self {
            case .call: "call"
            case .refusal: "refused call"
            case .message: "message"
            case .line: "line"
            case .connection: "connection"
            case .deadlines: "deadlines"
            case .job: "job"
            case .plugin: "plugin"
            }
        }
    }

    /// The number of the task or plugin. It is not a reference, as the task may have been removed when the step is
    /// reported.
    var number: UInt64 = 0
    /// The user of the session; meaningless for steps without a session.
    var uid: UInt32 = 0
    /// The low 32 bits of the turn's number; before the first step, a value that matches no turn.
    var turn = UInt32.max
    var kind = Kind.deadlines
}

/// The counters of turns of the loop that took too long, by step.
struct LongTurns {
    /// The duration beyond which a turn is long. All clients wait during a turn.
    static let limit = Duration.milliseconds(20)
    /// The maximum number of distinct steps; further ones are counted as ``Step/other``.
    static let maximumSteps = 64
    /// The minimum time between two lines in the log.
    static let logInterval = Duration.seconds(10)

    /// The last step of a long turn, as it is counted.
    struct Step: Hashable {
        /// ``RuntimeStep/Kind/name``, or "other" for work outside of the runtime: code of plugins in the daemon,
        /// timers.
        var name: String
        /// The name of the task or plugin; `nil` if the step has none.
        var of: String?
        var uid: UInt32?

        static let other = Step(name: "other")
    }

    /// The long turns of a step.
    struct Count {
        var turns: UInt64 = 0
        var longest = Duration.zero
    }

    /// The number of long turns.
    private(set) var count: UInt64 = 0
    /// The maximum CPU time of a turn of more than 5 ms, long or not.
    private(set) var longest = Duration.zero
    private(set) var steps: [Step: Count] = [:]
    private var unlogged = 0
    private var loggedAt: RuntimeInstant?

    /// Notes a turn of more than 5 ms, and returns whether it was long.
    mutating func note(_ cpuTime: Duration) -> Bool {
        longest = max(longest, cpuTime)
        guard cpuTime > Self.limit else { return false }
        count += 1
        return true
    }

    /// Counts a long turn for its last step.
    mutating func count(_ step: Step, _ cpuTime: Duration) {
        let step = steps[step] != nil || steps.count < Self.maximumSteps ? step : .other
        steps[step, default: Count()].turns += 1
        steps[step, default: Count()].longest = max(steps[step]?.longest ?? .zero, cpuTime)
    }

    /// Returns the number of long turns for a line in the log; `nil` if no line is due.
    mutating func takeUnlogged(at now: RuntimeInstant) -> Int? {
        unlogged += 1
        if let loggedAt, now.since(loggedAt) < Self.logInterval { return nil }
        loggedAt = now
        defer { unlogged = 0 }
        return unlogged
    }
}
