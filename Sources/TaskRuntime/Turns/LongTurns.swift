/// What the runtime does at present. Noted with every step, for the price of a store or two, so that a turn of the loop
/// that takes long has a name.
struct RuntimeStep {
    /// What it is.
    enum Kind: UInt8 {
        /// A call of the task of ``number``, made by a session.
        case call
        /// A call that is refused.
        case refusal
        /// A message that is no call.
        case message
        /// A line that is no message.
        case line
        /// A connection begins or ends.
        case connection
        /// Calls whose deadline has come.
        case deadlines
        /// Work for a user that was left over from an earlier turn.
        case job
        /// What the plugin of ``number`` says, as a process of its own or by a call that it makes, or work for it.
        case plugin

        /// As the status and the log call it.
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

    /// A number, not a reference: the task may be gone when it is asked for.
    var number: UInt64 = 0
    /// Of the session; has no meaning for steps that belong to no session.
    var uid: UInt32 = 0
    /// The last digits of the turn's number; before the first step that of no turn.
    var turn = UInt32.max
    var kind = Kind.deadlines
}

/// How often a turn of the loop took too long, and because of what.
struct LongTurns {
    /// Turns beyond this are long: all clients waited so long.
    static let limit = Duration.milliseconds(20)
    /// As many steps are distinguished; what comes beyond them is counted as ``Step/other``.
    static let maximumSteps = 64
    /// There is one line of the log in this time, and no more.
    static let logInterval = Duration.seconds(10)

    /// What ran last in a long turn, as it is counted.
    struct Step: Hashable {
        /// ``RuntimeStep/Kind/name``, or "other" for what the runtime knows nothing of: code of plugins in the daemon,
        /// timers.
        var name: String
        /// The task's name, or the plugin's.
        var of: String?
        var uid: UInt32?

        static let other = Step(name: "other")
    }

    /// The turns of a step.
    struct Count {
        var turns: UInt64 = 0
        var longest = Duration.zero
    }

    /// How many there were.
    private(set) var count: UInt64 = 0
    /// The most CPU time of a turn of more than 5 ms, long or not.
    private(set) var longest = Duration.zero
    private(set) var steps: [Step: Count] = [:]
    private var unlogged = 0
    private var loggedAt: RuntimeInstant?

    /// Notes a turn of more than 5 ms. Whether it was long.
    mutating func note(_ cpuTime: Duration) -> Bool {
        longest = max(longest, cpuTime)
        guard cpuTime > Self.limit else { return false }
        count += 1
        return true
    }

    /// Counts a long turn for the step that ran last in it.
    mutating func count(_ step: Step, _ cpuTime: Duration) {
        let step = steps[step] != nil || steps.count < Self.maximumSteps ? step : .other
        steps[step, default: Count()].turns += 1
        steps[step, default: Count()].longest = max(steps[step]?.longest ?? .zero, cpuTime)
    }

    /// How many long turns a line of the log is to report; nil: none is due.
    mutating func takeUnlogged(at now: RuntimeInstant) -> Int? {
        unlogged += 1
        if let loggedAt, now.since(loggedAt) < Self.logInterval { return nil }
        loggedAt = now
        defer { unlogged = 0 }
        return unlogged
    }
}
