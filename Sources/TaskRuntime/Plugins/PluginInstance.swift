public import BridgeJSON
import BridgeMessage
import DequeModule
import Logging

/// A plugin, as the runtime knows it: its tasks, the calls that wait for their turn, and the way back for its answers.
/// A host drives it; it can end none but its own calls. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
public final class PluginInstance: QueueingProvider {
    /// Its name, version, tasks and launch workers.
    public let manifest: PluginManifest
    /// The library's path.
    public let path: String
    /// What it is doing.
    public internal(set) var state = State.loaded
    /// The figures that it publishes.
    public let metrics = PluginMetrics()
    /// What it says of its tasks when it is asked.
    let schemas = PluginSchemas()

    let host: any TaskHost
    /// Its number among all plugins that there ever were.
    let number: UInt64
    /// Not retained: the runtime owns both, and this.
    let unownedCalls: Unmanaged<CallEngine>
    var calls: CallEngine { unownedCalls.takeUnretainedValue() }
    private let unownedDirectory: Unmanaged<PluginDirectory>
    var directory: PluginDirectory { unownedDirectory.takeUnretainedValue() }
    var tasks: [TaskEntry] = []
    /// What stands between calls and its tasks, in the order of their numbers; empty: it was sent none.
    public internal(set) var marks: [TaskMarks] = []
    /// Its interceptors, in the order of their numbers.
    var interceptors: [Interceptor] = []
    /// Calls whose turn has not come.
    @exclusivity(unchecked) var waiting = WaitingCalls()
    /// Calls that are about to end for the plugin's sake.
    var endings: Deque<EndingCalls> = []
    /// Sessions that the plugin is about to hear of; nil: none.
    var unreported: UnreportedSessions?
    /// Whether a job does all this: ``continueWork()``.
    @exclusivity(unchecked) var isAtWork = false
    /// What its work takes of the loop.
    private(set) lazy var account = UserAccount(
        uid: calls.rights.policy.daemonUID, isTrusted: true, plugin: number, calls.quotas.values)
    /// Why calls wait whether there is room or not; empty: they do not.
    @exclusivity(unchecked) var pauses: PauseReasons = []
    /// Why calls are refused; nil: they are not.
    var refusal: BridgeError?
    /// Work that goes on though its call has ended. Not lazy: that would copy its table with each change.
    @exclusivity(unchecked) var unfinished: UnfinishedWork
    /// Calls that it has made and that have not ended.
    var ownCallsInFlight = 0
    /// Its ends of streams, where it runs in the daemon's process.
    let streamHolder = StreamHolder()
    /// For errors that it did not foresee.
    var unforeseenLines = LogAllowance()
    /// For answers that were not asked for.
    var surplusLines = LogAllowance()
    /// Called when work is over, while ``IdleWaits`` has somebody wait for that.
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

    /// How it is kept apart: ``TaskHost/isolation``.
    public var isolation: String { host.isolation }
    /// The plugin's name.
    public var name: String { manifest.name }
    var providerName: String { "the plugin \(name)" }
    var queue: (any QueueingProvider)? { self }
    var isRunning: Bool { state == .running }
    var isLeaving: Bool { state == .stopping || state == .stopped }
    var taskCallsInFlight: Int { tasks.reduce(0) { $0 + $1.statistics.inFlight } }
    /// How many calls wait for their turn.
    public var waitingCount: Int { waiting.count }
    /// How many sessions wait.
    public var waitingSessionCount: Int { waiting.lineCount }
    /// How often it was started again; never, where it runs in the daemon's process and ends with it.
    var restartCount: Int { host.processStatus?.restarts ?? 0 }

    // MARK: Calls in

    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        if waiting.isEmpty ? hasRoom(task, for: call) : mayOvertake(call, task) {
            run(call, task, options: options)
        } else {
            hold(call, of: task, options: options)
        }
    }

    /// The call's turn has not come.
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

    /// Calls from one session to one plugin start in the order in which they came: none overtakes a waiting one. Nor
    /// does a call overtake those of others that wait for its task alone.
    @inline(never)
    private func mayOvertake(_ call: Call, _ task: TaskEntry) -> Bool {
        (!waiting.hasLine(of: call) || !keepsOrder(call)) && task.blocked.isEmpty && hasRoom(task, for: call)
    }

    /// Questions to interceptors, and what these call to answer them, wait behind nothing: others may be waiting for
    /// them. Nor does what the daemon asks about the plugin itself.
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

    /// A call that waits no longer has anything before it, unless it keeps its position behind others, or an
    /// interceptor has it in hand.
    private func noteCandidate(_ call: Call) {
        guard !call.isAskedAbout(in: self), waiting.isFirstOfLine(call) || !keepsOrder(call) else { return }
        waiting.put(call, waitingFor: .turn)
    }

    /// The call begins, goes elsewhere, or has ended.
    func leaveQueue(of call: Call) {
        guard let extras = call.record.pointee.extras, extras.waitsIn === self else { return }
        extras.waitsIn = nil
        if let next = waiting.remove(call) { noteCandidate(next) }
    }

    /// An interceptor has the call in hand: until it is decided, no later call of its session begins before it.
    func keepPosition(of call: Call) {
        guard call.extras.waitsIn === self else { return enqueue(call) }
        waiting.put(call, waitingFor: nil)
    }

    /// The call is decided, and goes on in its turn.
    func proceed(_ call: Call, options: UnsafeRawBufferPointer) {
        call.extras.heldOptions = Array(options)
        noteCandidate(call)
        continueWork()
    }

    /// The work on a call of the task is over.
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

    // MARK: Its life

    /// The entries under which the daemon's own requests to the plugin are counted, made with the first of each kind;
    /// no one else can call them. Private: configuration, and what plugins know of sessions, is not for who watches
    /// the traffic.
    var lifecycleEntries: [PluginWork: TaskEntry] = [:]

    private func lifecycleEntry(of work: PluginWork, _ index: Int) -> TaskEntry {
        if let entry = lifecycleEntries[work] { return entry }
        let entry = TaskEntry(
            // What plugins know of sessions has no bound but a message's, and their numbers are as many as sessions.
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

    /// Has the plugin do something that is no task.
    ///
    /// - Parameters:
    ///   - timeout: how long it may take.
    ///   - done: called once at the end, with what the plugin answered.
    public func perform(
        _ work: PluginWork, options: JSON, timeout: Duration?, _ done: @escaping (Result<JSON, BridgeError>) -> Void
    ) {
        // `try?`: a result has been checked.
        perform(work, options: options, timeout: timeout, reading: { (try? JSON(parsing: $0)) ?? .null }, done)
    }

    /// The same.
    ///
    /// - Parameter read: makes of the answer's text what `done` gets. In the lane where it is long: what plugins
    ///   know of all sessions, and what they describe, has no bound but a message's.
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
