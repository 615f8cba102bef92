import BridgeJSON
import BridgeMessage
import CTaskPlugin
import EventLoop
import Logging
import TaskRuntime

/// The host of a plugin in processes of its own. Loop thread only.
///
/// This is the runtime's view of the plugin. ``PluginProcessSupervisor`` starts and replaces the processes.
final class PluginProcessHost: TaskHost {
    let isolation = "process"
    /// Not retained: the runtime owns its hosts.
    private let unownedRuntime: Unmanaged<TaskRuntime>
    var runtime: TaskRuntime { unownedRuntime.takeUnretainedValue() }
    /// The plugin's instance in the runtime; `nil` before the plugin has been added.
    private(set) var instance: PluginInstance?
    /// The supervisor of the processes. Set once, right after both objects are created; `nil` after ``detach()``.
    var supervisor: PluginProcessSupervisor?
    /// The process that gets the calls; in a pool, the process that gets the requests about the plugin itself. `nil` if
    /// there is no process.
    var current: PluginProcessLink? {
        didSet {
            // Without a process, waiting calls continue to wait.
            if current != nil { drained() }
        }
    }
    /// The assignment of the pool's processes to callers; `nil` if there is no pool and ``current`` gets all calls.
    var leases: PluginProcessLeases?
    /// The existing processes that may get calls.
    private var links: [PluginProcessLink] = []

    /// The metrics that its processes report.
    var metrics = PluginProcessMetrics()

    private var log: HostLog
    private var lines = LogAllowance()
    /// The names of the tasks as quoted text for messages.
    private var taskNames: [[UInt8]] = []
    /// The changes of sessions that the processes get.
    var news = SessionNews()
    /// Whether the plugin requests the marks of its tasks.
    var hearsTaskMarks = false
    private var isStalled = false

    // The state that another process gets when it replaces this one.
    /// The plugin's section of the configuration; `nil` before the first one.
    private(set) var configured: JSON?
    /// A new section that the process has been requested to use; `nil` if there is none.
    private var proposed: (by: CallHandle, section: JSON)?
    /// The options of its start; `nil` if it has not been started.
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

    /// Adds a process that may get calls.
    func note(_ link: PluginProcessLink) { links.append(link) }

    /// Removes a process that has ended or was retired.
    func forget(_ link: PluginProcessLink) { links.removeAll { $0 === link } }

    /// Releases the references to other objects. No further process will be started.
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
        case .task(let index):
            news.noteCall(of: call.callerRevision.session) { runtime.session($0) != nil }
            taskNames[index].withUnsafeBytes { send(call, $0, options, over: link) }
        case .intercept: Self.intercept.withUnsafeBytes { send(call, $0, options, over: link, isQuestion: true) }
        case .launch(let index): launch(call, index, options, over: link)
        default:
            JSON.string("plugin.\(work.name)").bytes.withUnsafeBytes {
                send(call, $0, options, over: link, isLifecycle: true)
            }
        }
        guard link.isFull, !isStalled else { return }
        isStalled = true
        // Other processes of a pool may still read.
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

    /// Answers for a plugin without a process. A stop succeeds, and there is no state of sessions. If the plugin is
    /// running without a process, it accepts a new configuration, which the next process will get. If its processes
    /// fail, it cannot check a configuration.
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
        case .restoreSessions: news.noteStates(options) { runtime.session($0) != nil }
        case .stop: if let supervisor { LoopActor.assumeIsolated { supervisor.expectEnd() } }
        default: break
        }
    }

    /// Notes the success of a request about the plugin. If the process has accepted a new section, the next processes
    /// will get this section.
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
        // The process may be one that is being replaced and finishes its calls.
        for link in links where link.cancel(call) { link.callerLeft?() }
    }

    func notify(_ change: SessionChange, _ session: Session) {
        if change == .closed, leases != nil, let supervisor {
            let number = session.number
            LoopActor.assumeIsolated { supervisor.pool?.end(number) }
        }
        guard news.includes(change, of: session.number) else { return }
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

    /// Reports the existing sessions to a process that was added to the pool after others.
    ///
    /// - Parameter done: Called when all sessions have been reported or the process has ended.
    func reportSessions(to link: PluginProcessLink, done: @escaping () -> Void) {
        guard news.includesOpenSessions, let instance else { return done() }
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

    func abandon(because reason: String) { for link in links { link.abandon(because: reason) } }

    /// Resumes calls after the process has read or answered enough. A process that has read everything may still have
    /// too many calls to answer.
    func drained() {
        guard isStalled, leases != nil || current?.isFull != true else { return }
        isStalled = false
        if leases == nil { instance?.resume(.unread) } else { instance?.roomWasMade() }
    }

    // MARK: Log and status

    /// Writes a log line of the plugin. The text is made only if the line is written.
    ///
    /// - Parameter call: The call that the line is about; `nil` if there is none.
    func writeLog(_ level: UInt32, _ message: @autoclosure () -> String, of call: CallHandle?) {
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
            "the process of the plugin \(instance?.name ?? "") answered a call twice, or a call that does "
            + "not exist: \(text)"
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
