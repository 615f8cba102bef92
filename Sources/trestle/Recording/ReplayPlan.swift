import BridgeJSON

/// The calls of a recording to send again, and their order.
struct ReplayPlan: Equatable, Sendable {
    /// The reason why a call is not sent.
    enum Reason: String, CaseIterable, Sendable {
        /// Its options contain a secret.
        case masked
        /// Its options were too long to record.
        case cut
        /// It was forwarded to a client, and no client provides the task now.
        case provided
        /// One of its options, or its result, was a stream, or its task manages streams.
        case stream
        /// It was cancelled, timed out, or has no recorded end.
        case unended
        /// It concerns the connection, or contains numbers of other calls, which differ now.
        case connection
    }

    /// A call to send.
    struct Step: Equatable, Sendable {
        var call: RecordedCall
        /// The number of ends, in the order of `ends`, that must precede it, as in the recording.
        var after: Int
        /// Whether no answer is expected.
        var isOneWay: Bool { call.isOneWay }
    }

    struct Skipped: Equatable, Sendable {
        var call: RecordedCall
        var reason: Reason
    }

    /// The calls to send, in their order.
    private(set) var steps: [Step] = []
    private(set) var skipped: [Skipped] = []
    /// The numbers of the calls whose ends are awaited, in the order in which they ended in the recording.
    private(set) var ends: [Int64] = []

    /// - Parameter provided: The names of the tasks that exist now.
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

    /// Tasks that concern the connection itself, which a replay handles on its own connections, or that name calls of
    /// another daemon.
    private static let connectionTasks: Set<String> = [
        "bridge.hello", "bridge.cancel", "bridge.kill", "bridge.monitor", "bridge.register", "bridge.unregister",
    ]

    /// The prefix of the daemon's tasks for streams.
    private static let streamTasks = "bridge.stream."

    /// Error codes of ends that the task did not cause.
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

/// The progress of a replay: the ends that have occurred, in the order of the recording.
struct ReplayEnds {
    private let indices: [Int64: Int]
    private var hasCome: [Bool]
    /// The number of leading ends that have all occurred.
    private(set) var front = 0

    init(_ plan: ReplayPlan) {
        indices = Dictionary(
            plan.ends.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        hasCome = Array(repeating: false, count: plan.ends.count)
    }

    var areAllThere: Bool { front == hasCome.count }

    /// Records the end of a call.
    mutating func add(_ number: Int64) {
        guard let index = indices[number] else { return }
        hasCome[index] = true
        while front < hasCome.count, hasCome[front] { front += 1 }
    }
}
