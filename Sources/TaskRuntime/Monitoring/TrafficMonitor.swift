import BridgeJSON
import BridgeMessage

/// Shows the current traffic to sessions that watch it. If none does, ``isWatched`` is false, and calls only pay for
/// reading it. Lines are built within the turn that they report, while borrowed data are valid. They wait in the
/// watcher's event queue like other events: a slow reader loses lines and receives their number. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class TrafficMonitor {
    /// The maximum number of lines for one watcher in a turn of the loop: building them takes a millisecond or two, and
    /// clients' calls must not wait longer. Further lines are dropped as if the watcher were slow.
    static let maximumLinesInTurn = 256
    /// The maximum number of bytes of such lines, for watchers that request whole payloads.
    static let maximumBytesInTurn = 1 << 20

    /// Whether any session watches the traffic. Read once or twice with each call.
    @exclusivity(unchecked) private(set) var isWatched = false
    private var watchers: [TrafficWatcher] = []
    let time: CallClock
    let tasks: TaskRegistry
    private let rights: Rights
    private let delivery: EventDelivery

    init(_ time: CallClock, _ tasks: TaskRegistry, _ rights: Rights, _ delivery: EventDelivery) {
        self.time = time
        self.tasks = tasks
        self.rights = rights
        self.delivery = delivery
    }

    // MARK: Watchers

    /// Makes a session watch the traffic, or changes its filter.
    func watch(_ session: Session, _ filter: TrafficFilter) {
        guard session.phase == .open || session.phase == .inputEnded else { return }
        unwatch(session)
        watchers.append(TrafficWatcher(session: session, filter: filter))
        isWatched = true
    }

    func unwatch(_ session: Session) {
        watchers.removeAll { $0.session === session }
        isWatched = !watchers.isEmpty
    }

    /// The number of sessions that watch.
    var watcherCount: Int { watchers.count }

    /// Returns the filter of a session; `nil` if it does not watch.
    func filter(of session: Session) -> TrafficFilter? { watchers.first { $0.session === session }?.filter }

    /// Checks a session again after a change of its identity: it stops watching if it may not call `bridge.monitor` any
    /// more.
    func reconsider(_ session: Session) {
        guard isWatched, let task = tasks.find("bridge.monitor"), !rights.mayCall(task, session) else { return }
        unwatch(session)
    }

    /// Resets the counters at the end of a turn of the loop.
    func endTurn() {
        for index in watchers.indices { (watchers[index].linesInTurn, watchers[index].bytesInTurn) = (0, 0) }
    }

    // MARK: Calls

    // Never inlined, like those for ends, so that code for watched calls does not slow down the others.

    /// Shows that a call begins.
    @inline(never)
    func showBegin(of call: Call, _ task: TaskEntry, options: UnsafeRawBufferPointer) {
        show("call", call, task) { line in
            switch call.origin {
            case .session: break
            case .plugin: line.add("plugin", .string(call.pluginName ?? ""))
            case .daemon, .question: line.add("plugin", "trestled")
            }
            if call.hasID, let id = try? JSON(parsing: call.idDescription) { line.add("callbackId", id) }
            if call.isOneWay { line.add("oneWay", true) }
            line.add("options", payload: options, isPrivate: task.description.isPrivate)
        }
    }

    /// Shows that a call is sent to the client that works on it.
    func showForward(of call: Call, _ task: TaskEntry, to session: Session) {
        show("forward", call, task) { $0.add("to", session.number) }
    }

    func showProgress(of call: Call, _ value: UnsafeRawBufferPointer, sequence: UInt64) {
        guard let task = call.task else { return }
        show("progress", call, task) { line in
            line.add("sequence", sequence)
            line.add("progress", payload: value, isPrivate: task.description.isPrivate)
        }
    }

    /// Shows that a call has ended with its result. The clock has just been read for the call.
    @inline(never)
    func showEnd(of call: Call, result: UnsafeRawBufferPointer) {
        showEnd(of: call) { $0.add("result", payload: result, isPrivate: $1) }
    }

    /// Shows that a call has ended with an error.
    @inline(never)
    func showEnd(of call: Call, error: BridgeError) {
        showEnd(of: call) { $0.add(error, isPrivate: $1) }
    }

    private func showEnd(of call: Call, _ fill: (inout TrafficLine, _ isPrivate: Bool) -> Void) {
        guard let task = call.task else { return }
        let took = time.lastReading.since(call.startedAt)
        show("callback", call, task) { line in
            line.add("durationUs", took.wholeNanoseconds / 1000)
            fill(&line, task.description.isPrivate)
        }
    }

    func show(_ kind: StaticString, _ call: Call, _ task: TaskEntry, _ fill: (inout TrafficLine) -> Void) {
        // Questions about a call are shown under that call.
        guard call.origin != .question, task.stream != .bytes else { return }
        let caller = call.session
        show(where: { $0.session !== caller && $0.filter.matches(task: task.name, of: caller) }) {
            var line = TrafficLine(kind, payloadBytes: $0)
            line.add("call", call.number)
            line.add("task", .string(task.name))
            if let caller { Self.name(caller, &line) }
            fill(&line)
            return line
        }
    }

    private static func name(_ session: Session, _ line: inout TrafficLine) {
        line.add("session", session.number)
        line.add("uid", session.peer.uid)
    }

    // MARK: Refusals and events

    /// Shows that a message was answered with an error and began nothing.
    ///
    /// - Parameter task: The task's name in the message; `nil` if there is none.
    func showRefusal(of task: String?, _ error: BridgeError, _ session: Session?) {
        show(where: { $0.session !== session && $0.filter.matches(task: task ?? "", of: session) }) {
            var line = TrafficLine("refused", payloadBytes: $0)
            if let task { line.add("task", .string(task)) }
            if let session { Self.name(session, &line) }
            // A refusal contains no private data: these exist only once a call has begun.
            line.add(error, isPrivate: false)
            return line
        }
    }

    func showEvent(_ name: String, _ data: [UInt8], to receivers: [Session]) {
        show(where: { $0.filter.matchesEvent(to: receivers) }) {
            var line = TrafficLine("event", payloadBytes: $0)
            line.add("event", .string(name))
            line.add("receivers", receivers.count)
            data.withUnsafeBytes { line.add("data", payload: $0, isPrivate: false) }
            return line
        }
    }

    // MARK: Lines

    /// Sends a line to the watchers whose filter matches. It is built once for all watchers with the same payload
    /// limit. Other sessions cannot subscribe to it, and it is not shown as traffic itself.
    private func show(where isWanted: (TrafficWatcher) -> Bool, _ build: (_ payloadBytes: Int) -> TrafficLine) {
        var lines: [Int: EventLines] = [:]
        for index in watchers.indices where isWanted(watchers[index]) {
            let session = watchers[index].session
            guard takesLine(&watchers[index]) else {
                delivery.drop(for: session)
                continue
            }
            let payloadBytes = watchers[index].filter.payloadBytes
            let line = lines[payloadBytes] ?? EventLines("bridge.traffic", build(payloadBytes).finished())
            lines[payloadBytes] = line
            watchers[index].bytesInTurn += line.text.count
            delivery.send(line.line(in: session.eventDialect), to: session)
        }
    }

    private func takesLine(_ watcher: inout TrafficWatcher) -> Bool {
        watcher.linesInTurn += 1
        return watcher.linesInTurn <= Self.maximumLinesInTurn
            && watcher.bytesInTurn < Self.maximumBytesInTurn
    }
}
