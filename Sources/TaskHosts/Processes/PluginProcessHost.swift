import BridgeJSON
import BridgeMessage
import CTaskPlugin
import EventLoop
import Logging
import TaskRuntime

/// A plugin in a process of its own. Loop thread only.
///
/// This is what the runtime sees; which process there is, and when there is another, is the
/// ``PluginProcessSupervisor``'s affair.
final class PluginProcessHost: TaskHost {
    let isolation = "process"
    /// Not retained: the runtime owns its hosts.
    private let unownedRuntime: Unmanaged<TaskRuntime>
    var runtime: TaskRuntime { unownedRuntime.takeUnretainedValue() }
    /// The runtime's end of this host; nil before the plugin has been taken in.
    private(set) var instance: PluginInstance?
    /// Set once, right after both are made.
    var supervisor: PluginProcessSupervisor?
    /// The process that calls go to, of a pool the one that is asked about the plugin; nil: there is none.
    var current: PluginProcessLink? {
        didSet {
            // Without one, what waits waits on.
            if current != nil { drained() }
        }
    }
    /// Who has which process of the pool; nil: there is none, and ``current`` has all calls.
    var leases: PluginProcessLeases?
    /// The processes that calls went to, and that are there.
    private var links: [PluginProcessLink] = []

    /// What its processes report of metrics.
    var metrics = PluginProcessMetrics()

    private var log: HostLog
    private var lines = LogAllowance()
    /// The names of the tasks as they stand in messages.
    private var taskNames: [[UInt8]] = []
    /// Whether it wants to hear of sessions.
    var hearsSessions = false
    /// Whether it wants to hear what stands between calls and its tasks.
    var hearsTaskMarks = false
    private var isStalled = false

    // What another process gets that takes this one's place.
    /// The plugin's section of the configuration; nil: it has not come yet.
    private(set) var configured: JSON?
    /// Another section, which the process has been asked to take.
    private var proposed: (by: CallHandle, section: JSON)?
    /// What it was started with; nil: it has not been.
    private(set) var started: JSON?
    /// The launch workers that have run, in their order, each with its options.
    private(set) var launched: [(worker: PluginManifest.Worker, options: JSON)] = []

    init(runtime: TaskRuntime, log: HostLog) {
        unownedRuntime = .passUnretained(runtime)
        self.log = log
    }

    func attach(_ instance: PluginInstance) {
        self.instance = instance
        log = HostLog(log.logger, plugin: instance.name)
        taskNames = instance.manifest.tasks.map { JSON.string($0.name).bytes }
    }

    /// A process may get calls.
    func note(_ link: PluginProcessLink) { links.append(link) }

    /// That process is no longer there.
    func forget(_ link: PluginProcessLink) { links.removeAll { $0 === link } }

    /// There will be no further process.
    func detach() {
        instance = nil
        supervisor = nil
        leases = nil
    }

    // MARK: To the process

    var choosesCalls: Bool { leases != nil }

    func room(for call: Call) -> HostRoom { leases?.room(for: call) ?? .free }

    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer) {
        guard let link = link(for: work, call) else { return answerWithoutProcess(work, call.handle, options) }
        keep(work, call.handle, options)
        switch work {
        case .task(let index): taskNames[index].withUnsafeBytes { send(call, $0, options, over: link) }
        case .intercept: Self.intercept.withUnsafeBytes { send(call, $0, options, over: link, isQuestion: true) }
        case .launch(let index): launch(call, index, options, over: link)
        default:
            JSON.string("plugin.\(work.name)").bytes.withUnsafeBytes {
                send(call, $0, options, over: link, isLifecycle: true)
            }
        }
        guard link.isFull, !isStalled else { return }
        isStalled = true
        // Of a pool, others may read.
        if leases == nil { instance?.pause(.unread) }
    }

    private func link(for work: PluginWork, _ call: Call) -> PluginProcessLink? {
        guard let leases else { return current }
        switch work {
        case .task, .intercept: return leases.take(for: call)
        default: return current
        }
    }

    private static let intercept = Array(#""plugin.intercept""#.utf8)

    /// What has no process has stopped, and knows nothing. Where it needs none at the moment, the next one is
    /// configured by what it gets then; one whose processes fail cannot be asked what it takes.
    private func answerWithoutProcess(_ work: PluginWork, _ handle: CallHandle, _ options: UnsafeRawBufferPointer) {
        let isAtRest = instance?.state == .running
        switch work {
        case .stop, .saveSessions: break
        case .checkConfiguration where isAtRest: break
        case .reconfigure where isAtRest: configured = try? JSON(parsing: options)
        default:
            instance?.fail(handle, BridgeError(.pluginUnavailable, "the plugin has no process", isTransient: true))
            return
        }
        Array("{}".utf8).withUnsafeBytes { instance?.reply(handle, $0) }
    }

    private func keep(_ work: PluginWork, _ handle: CallHandle, _ options: UnsafeRawBufferPointer) {
        switch work {
        case .configure: configured = try? JSON(parsing: options)
        case .reconfigure: proposed = (try? JSON(parsing: options)).map { (handle, $0) }
        case .start: started = try? JSON(parsing: options)
        case .stop: if let supervisor { LoopActor.assumeIsolated { supervisor.expectEnd() } }
        default: break
        }
    }

    /// The process has done what it was asked about the plugin: a section that it took is what the next ones get.
    func lifecycleSucceeded(_ handle: CallHandle) {
        guard let proposed, proposed.by == handle else { return }
        configured = proposed.section
        self.proposed = nil
        if let supervisor { LoopActor.assumeIsolated { supervisor.pool?.replaceOthers() } }
    }

    private func launch(_ call: Call, _ index: Int, _ options: UnsafeRawBufferPointer, over link: PluginProcessLink) {
        guard let worker = instance?.manifest.workers[index] else { return }
        var named = (try? JSON(parsing: options))?.objectValue ?? [:]
        named["worker"] = .string(worker.name)
        launched.append((worker, .object(named)))
        JSON.string("plugin.launch").bytes.withUnsafeBytes { task in
            JSON.object(named).bytes.withUnsafeBytes { send(call, task, $0, over: link, isLifecycle: true) }
        }
    }

    private func send(
        _ call: Call, _ quotedTask: UnsafeRawBufferPointer, _ options: UnsafeRawBufferPointer,
        over link: PluginProcessLink, isLifecycle: Bool = false, isQuestion: Bool = false
    ) {
        var outgoing = OutgoingCall(quotedTask: quotedTask, options: options)
        outgoing.timeoutNanoseconds = runtime.nanosecondsLeft(to: call)
        outgoing.wantsProgress = call.takesProgress
        guard !isLifecycle else { return link.send(call.handle, outgoing, isLifecycle: true) }
        callers.withCaller(of: call) {
            outgoing.caller = $0
            link.send(call.handle, outgoing, isQuestion: isQuestion)
        }
    }

    private lazy var callers = PluginProcessCallers(runtime)

    func cancel(_ call: CallHandle, reason: CancelReason) {
        // It may be one that is being replaced, and finishes what it has.
        for link in links where link.cancel(call) { link.callerLeft?() }
    }

    func notify(_ change: SessionChange, _ session: Session) {
        if change == .closed, leases != nil, let supervisor {
            let number = session.number
            LoopActor.assumeIsolated { supervisor.pool?.end(number) }
        }
        guard hearsSessions else { return }
        for link in leases == nil ? [current].compactMap(\.self) : links where link.isReady {
            for change in link.sessionReport?.changes(change, of: session) ?? [change] {
                report(change, session, to: link)
            }
        }
    }

    private func report(_ change: SessionChange, _ session: Session, to link: PluginProcessLink) {
        link.notify("plugin.session", ["change": .string("\(change)"), "caller": callers.json(of: session)])
    }

    func noteMarks() { for link in links where link.isReady { reportMarks(to: link) } }

    /// Sends a process the marks of its tasks.
    func reportMarks(to link: PluginProcessLink) {
        guard hearsTaskMarks, let instance, !instance.marks.isEmpty else { return }
        var tasks: JSONObject = [:]
        for (task, marks) in zip(instance.manifest.tasks, instance.marks) where !marks.isEmpty {
            tasks[task.name] = .array(marks.names.map(JSON.string))
        }
        link.notify("plugin.tasks", ["marks": .object(tasks)])
    }

    /// Reports the sessions that there are to a process of a pool that has come after others.
    ///
    /// - Parameter done: is called when it has heard of all, or is gone.
    func reportSessions(to link: PluginProcessLink, done: @escaping () -> Void) {
        guard hearsSessions, let instance else { return done() }
        let report = instance.sessionReport { [weak self, weak link] session in
            guard let self, let link, links.contains(where: { $0 === link }) else { return false }
            self.report(.opened, session, to: link)
            return true
        } done: { [weak link] in
            link?.sessionReport = nil
            done()
        }
        link.sessionReport = report
        instance.begin(report)
    }

    func giveUp(because reason: String) { for link in links { link.giveUp(because: reason) } }

    /// The process has read, or answered, what had to wait. One that has read all may still have too much to answer.
    func drained() {
        guard isStalled, leases != nil || current?.isFull != true else { return }
        isStalled = false
        if leases == nil { instance?.resume(.unread) } else { instance?.roomWasMade() }
    }

    // MARK: What is reported of it

    /// A line that the plugin wants in the log, made only where it gets there.
    ///
    /// - Parameter call: the call that it is about; nil: none.
    func say(_ level: UInt32, _ message: @autoclosure () -> String, of call: CallHandle?) {
        guard log.writes(level: level) else { return }
        switch lines.take(at: RuntimeInstant(nanoseconds: MonotonicInstant.now().nanoseconds)) {
        case .leaveOut: return
        case .writeAfter(let lost):
            log.write(level: UInt32(TRESTLE_LOG_WARNING), "\(lost) lines of the plugin were left out")
        case .write: break
        }
        log.write(level: level, message(), of: call, in: runtime)
    }

    func noteStrayAnswer(_ id: CallbackID) {
        let text = String(decoding: id.text, as: UTF8.self)
        let what =
            "the process of the plugin \(instance?.name ?? "") answered a call again that it had answered, or that "
            + "never was: \(text)"
        if let instance { instance.noteSurplusAnswer(what, to: text) } else { runtime.dropReply(what, [:]) }
    }

    var streamHolders: [StreamHolder] { links.map(\.streamHolder) }

    var lag: Duration? { links.compactMap(\.lag).max() }

    var processStatus: PluginProcessStatus? {
        guard let supervisor else { return PluginProcessStatus(pid: nil, restarts: 0, lastFault: nil) }
        return LoopActor.assumeIsolated { supervisor.status }
    }

    func end() {
        guard let supervisor else { return }
        LoopActor.assumeIsolated { supervisor.end() }
    }
}
