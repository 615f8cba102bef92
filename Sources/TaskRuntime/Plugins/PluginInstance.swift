public import BridgeJSON
import BridgeMessage
import DequeModule
import Logging

/// A plugin in the runtime: its tasks, its waiting calls, and the entry points for its answers. It is driven by a host
/// and can end only its own calls. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
public final class PluginInstance: QueueingProvider {
    /// Its name, version, tasks and launch workers.
    public let manifest: PluginManifest
    /// The library's path.
    public let path: String
    /// The plugin's state.
    public internal(set) var state = State.loaded
    /// The metrics that it publishes.
    public let metrics = PluginMetrics()
    /// The schemas that it reports when asked.
    let schemas = PluginSchemas()

    let host: any TaskHost
    /// The plugin's number, unique among all plugins since the start.
    let number: UInt64
    /// Not retained: the runtime owns both, and this object.
    let unownedCalls: Unmanaged<CallEngine>
    var calls: CallEngine { unownedCalls.takeUnretainedValue() }
    private let unownedDirectory: Unmanaged<PluginDirectory>
    var directory: PluginDirectory { unownedDirectory.takeUnretainedValue() }
    var tasks: [TaskEntry] = []
    /// The checks between calls and its tasks, in the order of the tasks' numbers; empty if none were sent to it.
    public internal(set) var marks: [TaskMarks] = []
    /// Its interceptors, in the order of their numbers.
    var interceptors: [Interceptor] = []
    /// The calls whose turn has not come.
    @exclusivity(unchecked) var waiting = WaitingCalls()
    /// Calls that are about to end because of a fault of the plugin.
    var endings: Deque<EndingCalls> = []
    /// The sessions that will be reported to the plugin; `nil` if there are none.
    var unreported: UnreportedSessions?
    /// Whether a job for this work is active: ``continueWork()``.
    @exclusivity(unchecked) var isAtWork = false
    /// The account for its work on the loop.
    private(set) lazy var account = UserAccount(
        uid: calls.rights.policy.daemonUID, isTrusted: true, plugin: number, calls.quotas.values)
    /// The reasons why calls wait even if there is room; empty if there are none.
    @exclusivity(unchecked) var pauses: PauseReasons = []
    /// Why calls are refused; `nil` if they are not.
    var refusal: BridgeError?
    /// Work that continues although its call has ended. Not lazy: that would copy its table with each change.
    @exclusivity(unchecked) var unfinished: UnfinishedWork
    /// The number of calls that it has made and that have not ended.
    var ownCallsInFlight = 0
    /// Its ends of streams if it runs in the daemon's process.
    let streamHolder = StreamHolder()
    /// The allowance for log lines about unexpected errors.
    var unforeseenLines = LogAllowance()
    /// The allowance for log lines about answers to no open call.
    var surplusLines = LogAllowance()
    /// Called when work has ended, while ``IdleWaits`` waits for the plugin.
    var onLessWork: (() -> Void)?

    init(_ manifest: PluginManifest, path: String, host: any TaskHost, directory: PluginDirectory) {
        self.manifest = manifest
        self.path = path
        self.host = host
        unownedCalls = .passUnretained(directory.calls)
        unownedDirectory = .passUnretained(directory)
        number = directory.takeNumber()
        unfinished = UnfinishedWork(of: number)
        tasks = manifest.tasks.enumerated().map { TaskEntry($1, index: $0, provider: self) }
        interceptors = manifest.interceptors.enumerated().map { Interceptor($1, index: $0, plugin: self) }
        streamHolder.onChange = { [weak self] in self?.noteLessWork() }
    }

    /// The kind of isolation: ``TaskHost/isolation``.
    public var isolation: String { host.isolation }
    /// The plugin's name.
    public var name: String { manifest.name }
    var providerName: String { "the plugin \(name)" }
    var queue: (any QueueingProvider)? { self }
    var isRunning: Bool { state == .running }
    var isLeaving: Bool { state == .stopping || state == .stopped }
    var taskCallsInFlight: Int { tasks.reduce(0) { $0 + $1.statistics.inFlight } }
    /// The number of calls that wait for their turn.
    public var waitingCount: Int { waiting.count }
    /// The number of sessions that have waiting calls.
    public var waitingSessionCount: Int { waiting.lineCount }
    /// The number of restarts; 0 for a plugin in the daemon's process, which ends with the daemon.
    var restartCount: Int { host.processStatus?.restarts ?? 0 }

    // MARK: Calls in

    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        if waiting.isEmpty ? hasRoom(task, for: call) : mayOvertake(call, task) {
            run(call, task, options: options)
        } else {
            hold(call, of: task, options: options)
        }
    }

    /// Queues a call whose turn has not come, or refuses it.
    @inline(never)
    private func hold(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        if let refusal, !task.isInternal || task.isInterceptor {
            calls.end(call, error: refusal)
        } else {
            call.extras.heldOptions = Array(options)
            enqueue(call)
        }
    }

    @inline(__always)
    private func hasRoom(_ task: TaskEntry, for call: Call) -> Bool {
        if task.isInternal, !task.isInterceptor { return true }
        return task.runningCount < task.maximumRunning && pauses.isEmpty
            && (!host.choosesCalls || host.room(for: call) == .free)
    }

    /// Whether a call may start before the waiting calls. Calls from one session to one plugin start in the order in
    /// which they arrived. A call also does not overtake others that wait for its task only.
    @inline(never)
    private func mayOvertake(_ call: Call, _ task: TaskEntry) -> Bool {
        (!waiting.hasLine(of: call) || !keepsOrder(call)) && task.blocked.isEmpty && hasRoom(task, for: call)
    }

    /// Whether a call is ordered behind the earlier ones of its session. Questions to interceptors, and calls that
    /// interceptors make to answer them, are not: other calls may be waiting for them. Neither are the daemon's own
    /// requests to the plugin.
    private func keepsOrder(_ call: Call) -> Bool { call.task?.isInternal == false && call.ancestry.isEmpty }

    @inline(__always)
    func run(_ call: Call, _ task: TaskEntry, options: UnsafeRawBufferPointer) {
        call.state = .running
        task.runningCount += 1
        host.perform(work(of: task), for: call, options: options)
    }

    @inline(__always)
    private func work(of task: TaskEntry) -> PluginWork { task.isInternal ? internalWork(of: task) : .task(task.index) }

    @inline(never)
    private func internalWork(of task: TaskEntry) -> PluginWork {
        task.isInterceptor ? .intercept(task.index) : lifecycle[task.index]
    }

    // MARK: Calls that wait

    func enqueue(_ call: Call) {
        waiting.append(call)
        call.extras.waitsIn = self
        noteCandidate(call)
    }

    /// Makes a call a candidate, unless it is ordered behind others or an interceptor is deciding about it.
    private func noteCandidate(_ call: Call) {
        guard !call.isAskedAbout(in: self), waiting.isFirstOfLine(call) || !keepsOrder(call) else { return }
        waiting.put(call, waitingFor: .turn)
    }

    /// Removes a call from the queue: it begins, moves to another provider, or has ended.
    func leaveQueue(of call: Call) {
        guard let extras = call.record.pointee.extras, extras.waitsIn === self else { return }
        extras.waitsIn = nil
        if let next = waiting.remove(call) { noteCandidate(next) }
    }

    /// Keeps the call's position while an interceptor decides: no later call of its session begins before it.
    func keepPosition(of call: Call) {
        guard call.extras.waitsIn === self else { return enqueue(call) }
        waiting.put(call, waitingFor: nil)
    }

    /// Continues a call in its turn after the interceptors' decision.
    func proceed(_ call: Call, options: UnsafeRawBufferPointer) {
        call.extras.heldOptions = Array(options)
        noteCandidate(call)
        continueWork()
    }

    /// Records that the work on a call of the task has ended.
    @inline(__always)
    func leave(_ task: TaskEntry) {
        task.runningCount -= 1
        if !task.blocked.isEmpty { waiting.noteRoom(of: task) }
    }

    func abandon(_ call: Call, reason: CancelReason) {
        guard let task = call.task else { return }
        guard call.state == .running else {
            leaveQueue(of: call)
            noteLessWork()
            return calls.admitLater(self)
        }
        if let forgotten = unfinished.add(call, of: task, at: calls.clock.now) { leave(forgotten) }
        call.state = .ending
        host.cancel(call.handle, reason: reason)
    }

    // MARK: Lifecycle

    /// The entries that count the daemon's own requests to the plugin, each created with the first request of its kind.
    /// Only the daemon can call them. They are private: sessions that watch the traffic must not see configuration or
    /// session data.
    var lifecycleEntries: [PluginWork: TaskEntry] = [:]

    private func lifecycleEntry(of work: PluginWork, _ index: Int) -> TaskEntry {
        if let entry = lifecycleEntries[work] { return entry }
        let entry = TaskEntry(
            // Session data are bounded only by the length of a message, and grow with the number of sessions.
            TaskDescription(name: "plugin.\(work.name)", deadline: .none, isPrivate: true, optionBytes: .max),
            index: index,
            provider: self,
            isInternal: true)
        entry.statistics = TaskStatistics(measuresLatency: false)
        lifecycleEntries[work] = entry
        return entry
    }

    private lazy var lifecycle: [PluginWork] =
        [
            .configure, .checkConfiguration, .reconfigure, .start, .describe, .stop, .saveSessions, .restoreSessions,
        ]
        + manifest.workers.indices.map { .launch($0) }

    /// Sends the plugin a request that is not a call of a task.
    ///
    /// - Parameters:
    ///   - timeout: How long it may take.
    ///   - done: Called once at the end, with the plugin's answer.
    public func perform(
        _ work: PluginWork, options: JSON, timeout: Duration?, _ done: @escaping (Result<JSON, BridgeError>) -> Void
    ) {
        // `try?`: a result has been checked.
        perform(work, options: options, timeout: timeout, reading: { (try? JSON(parsing: $0)) ?? .null }, done)
    }

    /// Sends the plugin a request that is not a call of a task, and converts the text of its answer.
    ///
    /// - Parameter read: Converts the text of the answer into the value for `done`. A long text is read in the lane:
    ///   session data and descriptions are bounded only by the length of a message.
    func perform<Value: Sendable>(
        _ work: PluginWork, options: JSON, timeout: Duration?, reading read: @escaping @Sendable ([UInt8]) -> Value,
        _ done: @escaping (Result<Value, BridgeError>) -> Void
    ) {
        guard state != .stopped, let index = lifecycle.firstIndex(of: work) else {
            return done(.failure(BridgeError(.internal, "the plugin \(name) has no such work: \(work)")))
        }
        let now = calls.clock.now
        let entry = lifecycleEntry(of: work, index)
        let call = calls.begin(
            CallRequest(
                origin: .daemon, task: .passUnretained(entry), startedAt: now,
                deadline: timeout.map { now.advanced(by: $0) } ?? .never))
        let lane = calls.lane
        let uid = calls.rights.policy.daemonUID
        call.extras.completion = { outcome in
            switch outcome {
            case .failure(let error): done(.failure(error))
            case .result(let result):
                let text = Array(result)
                guard let lane, text.count > TaskDescription.usualOptionBytes else { return done(.success(read(text))) }
                lane.run(for: uid) {
                    read(text)
                } then: {
                    done(.success($0))
                }
            }
        }
        options.bytes.withPadding { calls.dispatch(call, of: entry, options: $0) }
    }
}
