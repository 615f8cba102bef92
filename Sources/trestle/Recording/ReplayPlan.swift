import BridgeJSON

/// What of a recording is sent again, and in which order.
struct ReplayPlan: Equatable, Sendable {
    /// Why a call is not sent.
    enum Reason: String, CaseIterable, Sendable {
        /// A secret stands in its options.
        case masked
        /// Its options were too long to be kept.
        case cut
        /// A client worked on it, and none provides the task now.
        case provided
        /// One of its options, or its result, was a stream, or it was about one.
        case stream
        /// It was cancelled, timed out, or has no end in the recording.
        case unended
        /// It is about the connection, or about others by numbers that are other ones now.
        case connection
    }

    /// A call that is sent.
    struct Step: Equatable, Sendable {
        var call: RecordedCall
        /// So many ends, in the order of `ends`, come before it is sent: those that came before it in the recording.
        var after: Int
        /// No one waits for it: it was a one-way call.
        var isOneWay: Bool { call.isOneWay }
    }

    struct Skipped: Equatable, Sendable {
        var call: RecordedCall
        var reason: Reason
    }

    /// In the order in which they are sent.
    private(set) var steps: [Step] = []
    private(set) var skipped: [Skipped] = []
    /// The numbers of the calls whose ends are waited for, in the order in which they ended in the recording.
    private(set) var ends: [Int64] = []

    /// - Parameter provided: the names of the tasks that there are now.
    init(_ recording: Recording, provided: Set<String>) {
        var sent: [RecordedCall] = []
        for call in recording.calls {
            if let reason = Self.reason(toSkip: call, provided) {
                skipped.append(Skipped(call: call, reason: reason))
            } else {
                sent.append(call)
            }
        }
        let ended = sent.filter { !$0.isOneWay }.compactMap { call in call.endLine.map { (line: $0, call.number) } }
            .sorted { $0.line < $1.line }
        ends = ended.map(\.1)
        var after = 0
        for call in sent {
            while after < ended.count, ended[after].line < call.line { after += 1 }
            steps.append(Step(call: call, after: after))
        }
    }

    /// Tasks that say something of the connection itself, which a replay's connections say for themselves, or that
    /// name calls of another daemon.
    private static let connectionTasks: Set<String> = [
        "bridge.hello", "bridge.cancel", "bridge.kill", "bridge.monitor", "bridge.register", "bridge.unregister",
    ]

    /// How the daemon's tasks about streams begin.
    private static let streamTasks = "bridge.stream."

    /// Ends that the caller brought about, and not the task.
    private static let ownEnds: Set<String> = ["call.cancelled", "call.timeout", "session.closed"]

    private static func reason(toSkip call: RecordedCall, _ provided: Set<String>) -> Reason? {
        if connectionTasks.contains(call.task) { return .connection }
        if call.hasStream || call.task.hasPrefix(streamTasks) { return .stream }
        if call.wasForwarded, !provided.contains(call.task) { return .provided }
        switch call.options {
        case .masked: return .masked
        case .cut: return .cut
        case .whole: break
        }
        guard !call.isOneWay else { return nil }
        if case .error(let error) = call.outcome, ownEnds.contains(error["code"]?.stringValue ?? "") { return .unended }
        return call.outcome == nil ? .unended : nil
    }
}

/// How far a replay is: which ends have come, as the recording orders them.
struct ReplayEnds {
    private let indices: [Int64: Int]
    private var hasCome: [Bool]
    /// All of the first so many ends have come.
    private(set) var front = 0

    init(_ plan: ReplayPlan) {
        indices = Dictionary(
            plan.ends.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        hasCome = Array(repeating: false, count: plan.ends.count)
    }

    var areAllThere: Bool { front == hasCome.count }

    /// The end of a call has come.
    mutating func add(_ number: Int64) {
        guard let index = indices[number] else { return }
        hasCome[index] = true
        while front < hasCome.count, hasCome[front] { front += 1 }
    }
}
