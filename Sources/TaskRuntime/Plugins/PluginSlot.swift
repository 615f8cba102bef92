public import BridgeJSON
import BridgeMessage
import DequeModule
import Logging

/// A plugin, as the runtime knows it: its tasks, the calls that wait for their turn, and the way back for its answers.
/// A host drives it; it can end none but its own calls. Loop thread only.
///
/// `@exclusivity(unchecked)`, here on what every call touches: one thread uses it, and no access to it lasts while anything
/// else of it is called, so that the checks, a large part of a call's cost, would find nothing.
public final class PluginSlot: TaskProvider {
    /// What a plugin is doing.
    public enum State: String, Sendable {
        /// Its library is there, its work has not begun.
        case loaded
        /// It takes calls.
        case running
        /// Its process has ended, and another one is being started: calls wait.
        case restarting
        /// Its processes have ended too often: calls are refused.
        case unavailable
        /// It finishes.
        case stopping
        /// It takes calls no more.
        case stopped
    }

    /// Why calls wait that could be worked on otherwise.
    public struct PauseReasons: OptionSet, Sendable {
        /// A bit for each.
        public let rawValue: UInt8

        /// Reasons by their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// There is nobody to hand them to.
        public static let noProcess = PauseReasons(rawValue: 1)
        /// Its process does not read what it is sent.
        public static let unread = PauseReasons(rawValue: 2)
        /// What it knows of sessions is on its way to the plugin that takes its place.
        public static let handover = PauseReasons(rawValue: 4)
    }

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
    /// Not retained: the runtime owns this.
    private let unretainedRuntime: Unmanaged<TaskRuntime>
    var runtime: TaskRuntime { unretainedRuntime.takeUnretainedValue() }
    private(set) var tasks: [TaskEntry] = []
    /// Its interceptors, in the order of their numbers.
    private(set) var interceptors: [Interceptor] = []
    /// Calls whose turn has not come, in the order in which they came.
    @exclusivity(unchecked) private var waiting: Deque<CallHandle> = []
    /// How many calls of each session wait.
    private var waitingBySession: [UInt64: Int] = [:]
    @exclusivity(unchecked) private var isAdmitting = false
    /// Whether more may begin than the one session's calls that are being looked through.
    private var admitsMore = false
    /// Why calls wait whether there is room or not; empty: they do not.
    @exclusivity(unchecked) private var pauses: PauseReasons = []
    /// Why calls are refused; nil: they are not.
    private var refusal: BridgeError?
    /// Work that goes on though its call has ended.
    private var abandoned: [CallHandle: TaskEntry] = [:]
    /// Told once; see ``whenIdle(_:)``.
    private var onIdle: (() -> Void)?

    /// Beyond this many abandoned calls the oldest knowledge goes: such a plugin has long stopped answering.
    private static let mostAbandoned = 65_536

    init(_ manifest: PluginManifest, path: String, host: any TaskHost, runtime: TaskRuntime) {
        self.manifest = manifest
        self.path = path
        self.host = host
        unretainedRuntime = .passUnretained(runtime)
        tasks = manifest.tasks.enumerated().map { TaskEntry($1, index: $0, provider: self) }
        interceptors = manifest.interceptors.enumerated().map { Interceptor($1, index: $0, plugin: self) }
    }

    /// How it is kept apart: ``TaskHost/isolation``.
    public var isolation: String { host.isolation }
    /// The plugin's name.
    public var name: String { manifest.name }
    var providerName: String { "the plugin \(name)" }
    /// How many calls wait for their turn.
    public var waitingCount: Int { waiting.count }
    /// How many sessions wait.
    public var waitingSessionCount: Int { waitingBySession.count }
    /// How often it was started anew; never, where it runs in the daemon's process and ends with it.
    var restartCount: Int { host.workerStatus?.restarts ?? 0 }

    // MARK: Calls in

    func start(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        if waiting.isEmpty ? hasRoom(task, for: call) : mayOvertake(call, task) {
            run(call, task, options: options)
        } else if let refusal, !task.isInternal || task.isInterceptor {
            runtime.end(call, error: refusal)
        } else {
            call.extras.heldOptions = Array(options)
            enqueue(call)
        }
    }

    private func enqueue(_ call: Call) {
        waiting.append(call.handle)
        waitingBySession[call.session?.number ?? 0, default: 0] += 1
    }

    private func hasRoom(_ task: TaskEntry, for call: Call) -> Bool {
        if task.isInternal, !task.isInterceptor { return true }
        return task.runningCount < task.mostRunning && pauses.isEmpty && (!host.choosesCalls || host.takes(call))
    }

    /// Calls from one session to one plugin start in the order in which they came: none overtakes a waiting one.
    private func mayOvertake(_ call: Call, _ task: TaskEntry) -> Bool {
        (waitingBySession[call.session?.number ?? 0] == nil || !keepsOrder(call, task)) && hasRoom(task, for: call)
    }

    /// Questions to interceptors, and what these call to answer them, wait behind nothing: others may be waiting for them.
    private func keepsOrder(_ call: Call, _ task: TaskEntry) -> Bool { !task.isInterceptor && call.lineage.isEmpty }

    private func run(_ call: Call, _ task: TaskEntry, options: UnsafeRawBufferPointer) {
        call.state = .running
        task.runningCount += 1
        host.perform(work(of: task), for: call, options: options)
    }

    private func work(of task: TaskEntry) -> PluginWork {
        guard task.isInternal else { return .task(task.index) }
        return task.isInterceptor ? .intercept(task.index) : lifecycle[task.index]
    }

    /// Begins what waits, as far as there is room; sessions keep their order.
    func admitWaiting() {
        guard !isAdmitting, !waiting.isEmpty else {
            admitsMore = isAdmitting
            return
        }
        isAdmitting = true
        defer { isAdmitting = false }
        var blocked: Set<UInt64> = []
        var index = 0
        while index < waiting.count {
            let handle = waiting[index]
            guard let call = runtime.calls.call(handle), let task = call.task else {
                waiting.remove(at: index)
                continue
            }
            let session = call.session?.number ?? 0
            guard !call.isAskedAbout(in: self), !blocked.contains(session) || !keepsOrder(call, task),
                hasRoom(task, for: call)
            else {
                blocked.insert(session)
                index += 1
                continue
            }
            waiting.remove(at: index)
            forgetWaiting(session)
            runHeld(call, task)
            // Calls may have ended or come meanwhile: their room is looked for from the start.
            blocked = []
            index = 0
        }
        admitsMore = false
    }

    private func runHeld(_ call: Call, _ task: TaskEntry) {
        call.takeHeldOptions().withPadding { run(call, task, options: $0) }
    }

    private func forgetWaiting(_ session: UInt64) {
        guard let count = waitingBySession[session] else { return }
        waitingBySession[session] = count > 1 ? count - 1 : nil
    }

    // MARK: Calls that interceptors are asked about

    /// An interceptor has the call in hand: until it is decided, no later call of its session begins before it.
    func keepPlace(of call: Call) { enqueue(call) }

    /// The call is decided, and goes on in its turn.
    func goOn(_ call: Call, options: UnsafeRawBufferPointer) {
        call.extras.heldOptions = Array(options)
        admitWaiting(of: call.session?.number ?? 0)
    }

    /// Begins what waits of one session, up to what cannot: nobody else's calls waited for its being decided, and there may
    /// be many of them.
    private func admitWaiting(of session: UInt64) {
        guard !isAdmitting else {
            admitsMore = true
            return
        }
        isAdmitting = true
        var index = 0
        while index < waiting.count {
            guard let call = runtime.calls.call(waiting[index]), let task = call.task,
                call.session?.number ?? 0 == session
            else {
                index += 1
                continue
            }
            guard !call.isAskedAbout(in: self), hasRoom(task, for: call) else { break }
            waiting.remove(at: index)
            forgetWaiting(session)
            runHeld(call, task)
            // Others may have gone meanwhile: what is next is looked for from the start.
            index = 0
            guard waitingBySession[session] != nil else { break }
        }
        isAdmitting = false
        guard admitsMore else { return }
        admitsMore = false
        admitWaiting()
    }

    /// The call goes elsewhere, or has ended.
    func giveUpPlace(of call: Call) {
        guard let index = waiting.firstIndex(of: call.handle) else { return }
        waiting.remove(at: index)
        forgetWaiting(call.session?.number ?? 0)
    }

    func abandon(_ call: Call, reason: CancelReason) {
        guard let task = call.task else { return }
        guard call.state == .running else {
            giveUpPlace(of: call)
            noteIdle()
            return runtime.admitLater(self)
        }
        if abandoned.count >= Self.mostAbandoned, let some = abandoned.first {
            abandoned[some.key] = nil
            some.value.runningCount -= 1
        }
        abandoned[call.handle] = task
        call.state = .ending
        host.cancel(call.handle, reason: reason)
    }

    func tell(_ change: SessionChange, _ session: Session) {
        if state == .running { host.tell(change, session) }
    }

    // MARK: Another one in its place

    /// The calls that wait go to another plugin from now on, in their order; those of tasks that it does not have are
    /// refused. Questions to interceptors stay.
    func handWaiting(to successor: PluginSlot) {
        let handles = Array(waiting)
        waiting.removeAll()
        waitingBySession.removeAll()
        for handle in handles {
            guard let call = runtime.calls.call(handle), let task = call.task else { continue }
            if task.isInterceptor {
                enqueue(call)
            } else if let next = successor.tasks.first(where: { $0.name == task.name }) {
                hand(call, to: successor, next)
            } else {
                let reason = "\(providerName) was replaced, and provides no task \(task.name) any more"
                runtime.abort(call, BridgeError(.taskNotFound, reason), reason: .shutdown)
            }
        }
    }

    private func hand(_ call: Call, to successor: PluginSlot, _ task: TaskEntry) {
        let isAskedAbout = call.isAskedAbout(in: self)
        call.move(to: task)
        guard !isAskedAbout else {
            call.passage?.queue = successor
            return successor.keepPlace(of: call)
        }
        call.takeHeldOptions().withPadding { successor.start(call, of: task, options: $0) }
    }

    /// Whether no call is worked on, answered or not, and none waits that could begin.
    var isIdle: Bool {
        (!pauses.isEmpty || waiting.isEmpty) && tasks.allSatisfy { $0.runningCount == 0 }
            && interceptors.allSatisfy { $0.entry.runningCount == 0 }
    }

    /// Has `body` told once when no call is worked on and none waits that could begin, which may be at once; nil: nobody
    /// is to be told any more.
    public func whenIdle(_ body: (() -> Void)?) {
        onIdle = body
        noteIdle()
    }

    private func noteIdle() {
        guard let onIdle, isIdle else { return }
        self.onIdle = nil
        onIdle()
    }

    /// Room was made: what waits for it goes on.
    private func afterWork() {
        admitWaiting()
        noteIdle()
    }

    // MARK: Processes that end

    /// The host may take calls that it did not take before.
    public func roomWasMade() { if !waiting.isEmpty { admitWaiting() } }

    /// One of its processes is not there any more, others are.
    ///
    /// - Parameter lost: the calls that it worked on.
    public func oneCrashed(_ error: BridgeError, lost: [CallHandle]) {
        workEnded(lost, error)
        if state == .running { runtime.publish("plugin.crashed", data: news(error)) }
    }

    /// Calls wait from now on, until ``resume(_:)`` for every reason.
    public func pause(_ reason: PauseReasons) { pauses.insert(reason) }

    /// That is no reason any more.
    public func resume(_ reason: PauseReasons) {
        pauses.remove(reason)
        if pauses.isEmpty { admitWaiting() }
    }

    /// The work on these calls is over without an answer, whether somebody waited for one or not.
    public func workEnded(_ handles: [CallHandle], _ error: BridgeError) {
        for handle in handles {
            if let task = abandoned.removeValue(forKey: handle) {
                task.runningCount -= 1
                noteIdle()
            } else if ownCall(handle, of: runtime) != nil {
                fail(handle, error)
            }
        }
    }

    /// Its process is not there any more. Calls that were not handed over yet wait on.
    ///
    /// - Parameters:
    ///   - lost: the calls that it worked on.
    ///   - isRestarting: whether there will be another process; else its life is over for now.
    public func crashed(_ error: BridgeError, lost: [CallHandle], isRestarting: Bool) {
        pause(.noProcess)
        let wasOpen = state == .running || state == .restarting
        if wasOpen { state = .restarting }
        workEnded(lost, error)
        guard wasOpen else { return }
        runtime.publish("plugin.crashed", data: news(error))
        if !isRestarting { giveUp(after: error) }
    }

    /// Its process was started anew and takes calls.
    public func restarted() {
        guard state == .restarting || state == .unavailable || state == .running else { return }
        state = .running
        refusal = nil
        runtime.announce(self)
        resume(.noProcess)
    }

    private func giveUp(after error: BridgeError) {
        state = .unavailable
        let refusal = BridgeError(
            .pluginUnavailable,
            "\(providerName) ended too often and is not started any more; bridge.plugin.reload starts it again",
            data: error.data.map { ["last": $0] })
        self.refusal = refusal
        for handle in Array(waiting) {
            guard let call = runtime.calls.call(handle) else { continue }
            runtime.abort(call, refusal, reason: .shutdown)
        }
        runtime.publish("plugin.unavailable", data: news(error))
    }

    private func news(_ error: BridgeError) -> JSON {
        var data = error.data?.objectValue ?? [:]
        data["name"] = .string(name)
        data["started"] = nil
        data["message"] = .string(error.message)
        return .object(data)
    }

    /// It is known no more: what holds on to it is let go.
    func letGo() {
        onIdle = nil
        tasks = []
        interceptors = []
        lifecycleEntries = []
        abandoned = [:]
    }

    // MARK: Answers out

    /// Ends a call of this plugin with a result.
    ///
    /// - Parameters:
    ///   - result: checked to be one JSON value, unless the caller knows that it has been.
    ///   - isChecked: whether the bytes are known to be JSON, as those of the options are.
    public func reply(_ handle: CallHandle, _ result: UnsafeRawBufferPointer, isChecked: Bool = false) {
        var makesRoom = true
        // On the way of every call: no reference is counted here.
        unretainedRuntime._withUnsafeGuaranteedRef { runtime in
            guard let call = ownCall(handle, of: runtime) else { return dropLate(handle) }
            // A decision is checked when it is read.
            if !isChecked, call.origin != .question, let fault = runtime.check.fault(in: result) {
                return refuse(call, fault)
            }
            makesRoom = noteEndOfWork(call)
            // What has been checked before are the call's own options, which came in a line.
            runtime.end(call, result: result, isOneLine: isChecked)
        }
        if !waiting.isEmpty && makesRoom || onIdle != nil { afterWork() }
    }

    /// - Returns: whether another call may begin in its place: none waits for the end of one of a task that takes any number.
    @inline(__always) @discardableResult
    private func noteEndOfWork(_ call: Call) -> Bool {
        call.record.pointee.task?._withUnsafeGuaranteedRef {
            $0.runningCount -= 1
            return $0.mostRunning != .max
        } ?? true
    }

    private func refuse(_ call: Call, _ fault: String) {
        noteEndOfWork(call)
        runtime.end(call, error: BridgeError(.pluginInvalidReply, "\(providerName) replied with no JSON: \(fault)"))
        afterWork()
    }

    /// Ends a call of this plugin with an error.
    public func fail(_ handle: CallHandle, _ error: BridgeError) {
        guard let call = ownCall(handle, of: runtime) else { return dropLate(handle) }
        noteEndOfWork(call)
        runtime.end(call, error: error)
        afterWork()
    }

    /// Sends an intermediate result of a call of this plugin.
    public func progress(_ handle: CallHandle, _ value: UnsafeRawBufferPointer) {
        guard let call = ownCall(handle, of: runtime), call.takesProgress else { return }
        if let fault = runtime.check.fault(in: value) {
            return runtime.log.warning(
                "\(providerName) sent progress that is no JSON: \(fault)", metadata: call.logMetadata)
        }
        runtime.progress(call, value)
    }

    @inline(__always)
    private func ownCall(_ handle: CallHandle, of runtime: TaskRuntime) -> Call? {
        guard let call = runtime.calls.call(handle), call.state == .running, let task = call.record.pointee.task,
            task._withUnsafeGuaranteedRef({ $0.providerID }) == ObjectIdentifier(self)
        else { return nil }
        return call
    }

    private func dropLate(_ handle: CallHandle) {
        runtime.dropReply(
            "\(providerName) answered a call that has ended",
            abandoned[handle].map { ["task": .string($0.name)] } ?? [:])
        guard let task = abandoned.removeValue(forKey: handle) else { return }
        task.runningCount -= 1
        afterWork()
    }

    // MARK: Its life

    /// The entries under which the daemon's own requests to the plugin are counted; not callable by anybody else.
    /// Private: configuration, and what plugins know of sessions, is not for who watches the traffic.
    private lazy var lifecycleEntries: [TaskEntry] = lifecycle.enumerated().map { index, work in
        TaskEntry(
            TaskDescription(name: "plugin.\(work.name)", deadline: .none, isPrivate: true), index: index,
            provider: self,
            isInternal: true)
    }
    private lazy var lifecycle: [PluginWork] =
        [
            .configure, .checkConfiguration, .reconfigure, .start, .describe, .stop, .keepSessions, .restoreSessions,
        ]
        + manifest.workers.indices.map { .launch($0) }

    /// Has the plugin do something that is no task.
    ///
    /// - Parameters:
    ///   - timeout: how long it may take.
    ///   - done: told of the end, once, with what the plugin answered.
    public func perform(
        _ work: PluginWork, options: JSON, timeout: Duration?, _ done: @escaping (Result<JSON, BridgeError>) -> Void
    ) {
        guard state != .stopped, let index = lifecycle.firstIndex(of: work) else {
            return done(.failure(BridgeError(.internal, "the plugin \(name) has no such work: \(work)")))
        }
        let now = runtime.clock.now
        let call = runtime.calls.begin(
            CallRequest(
                origin: .daemon, task: .passUnretained(lifecycleEntries[index]), startedAt: now,
                deadline: timeout.map { now.advanced(by: $0) } ?? .never))
        call.extras.completion = { outcome in
            switch outcome {
            case .failure(let error): done(.failure(error))
            // `try?`: a result has been checked.
            case .result(let result): done(.success((try? JSON(parsing: result)) ?? .null))
            }
        }
        options.bytes.withPadding { runtime.dispatch(call, of: lifecycleEntries[index], options: $0) }
    }
}

extension [UInt8] {
    /// The bytes, readable for 64 bytes past their end, as those of a call's options are.
    func withPadding(_ body: (UnsafeRawBufferPointer) -> Void) {
        let padded = self + repeatElement(0, count: 64)
        padded.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
}

extension PluginWork {
    /// The work's name, as the worker protocol calls it.
    public var name: String {
        switch self {
        case .configure: "configure"
        case .checkConfiguration: "check"
        case .reconfigure: "reconfigure"
        case .start: "start"
        case .launch: "launch"
        case .task: "call"
        case .intercept: "intercept"
        case .describe: "describe"
        case .stop: "stop"
        case .keepSessions: "keep_sessions"
        case .restoreSessions: "restore_sessions"
        }
    }
}
