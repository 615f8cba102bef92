import BridgeJSON
import EventLoop
import Logging
import TaskRuntime
import PluginInterface

/// Keeps a plugin's processes alive, one or a pool: starts them again after a fault, up to too many. Loop thread only.
@LoopActor
final class PluginProcessSupervisor {
    private let command: PluginProcessCommand
    let host: PluginProcessHost
    private let runtime: TaskRuntime
    private let times: Times
    private let scheduler: FairScheduler?
    let log: HostLog
    /// Its pool; nil: one process has all calls.
    var pool: PluginProcessPool?

    /// The processes that are there, or on their way.
    private(set) var members: [PluginProcessMember] = []
    /// What is decided about them; this does it.
    private var supervision = PluginSupervision()
    /// Set while nothing is started because something has ended.
    private var pauseTimer: LoopTimer?
    private let ends = AsyncSignal<Void>()

    init(
        _ command: PluginProcessCommand, host: PluginProcessHost, runtime: TaskRuntime, scheduler: FairScheduler?,
        times: Times, log: HostLog
    ) {
        self.scheduler = scheduler
        self.command = command
        self.host = host
        self.runtime = runtime
        self.times = times
        self.log = log
    }

    /// How long a process may take for what it can do immediately.
    var timeout: Duration { times.ping }

    var name: String { host.instance?.name ?? command.name ?? command.path }

    /// Whether its processes are this plugin's.
    func serves(_ plugin: PluginInstance) -> Bool { host.instance === plugin }

    /// How they fare.
    var status: PluginProcessStatus {
        PluginProcessStatus(
            pid: host.current.flatMap { link in members.first { $0.link === link }?.process.pid },
            restarts: supervision.restarts, lastFault: supervision.lastFault, pool: pool?.status)
    }

    /// Whether a process may be started now.
    var mayStart: Bool { supervision.mayStart }

    // MARK: The first start

    /// Starts the plugin's process for the first time.
    ///
    /// - Returns: what the plugin says of itself: its manifest.
    /// - Throws: `plugin.unavailable`.
    func start() async throws(BridgeError) -> JSON {
        await ChildProcess.prepareGroup()
        guard !supervision.isOver else { throw BridgeError(.pluginUnavailable, "it is no longer needed") }
        let member = try spawn()
        host.current = member.link
        do throws(BridgeError) {
            let manifest = try await greet(member)
            member.becomeReady()
            return manifest
        } catch {
            end()
            throw error
        }
    }

    /// The plugin is configured and started: the process that is there is the first of its pool, if it has one.
    func openPool() {
        if let pool, let first = members.first { pool.add(first) }
    }

    private func spawn() throws(BridgeError) -> PluginProcessMember {
        do {
            let process = try PluginProcess(
                command, link: PluginProcessLink(host),
                lineBytes: runtime.limits.messageBytes + PluginProtocol.envelopeBytes, scheduler: scheduler
            ) { [self] process, fault in ended(process, fault) }
            supervision.started()
            // Before it loads anything: a debugger can be attached to a plugin that fails while it starts.
            log.logger.info(
                "the process \(process.pid) of the plugin \(name) is started",
                metadata: ["plugin": .string(name), "pid": .stringConvertible(process.pid)])
            let member = PluginProcessMember(process, times: times)
            members.append(member)
            host.note(member.link)
            return member
        } catch {
            throw BridgeError(.pluginUnavailable, "it cannot be started: \(error)")
        }
    }

    /// Says hello, and puts what the process answers together with what its file says.
    private func greet(_ member: PluginProcessMember) async throws(BridgeError) -> JSON {
        let answer = try await member.greet([
            "protocol": ["name": .string(PluginProtocol.name), "version": .string(PluginProtocol.version)],
            "plugin": command.name.map { .string($0) } ?? .null,
            "daemon": ["name": "trestled", "version": .string(runtime.daemon.version)],
            "limits": ["messageBytes": .number(JSONNumber(runtime.limits.messageBytes))],
        ])
        var manifest = answer.objectValue ?? [:]
        for (key, value) in command.manifest.objectValue ?? [:] { manifest[key] = value }
        if let name = command.name { manifest["name"] = .string(name) }
        if manifest["version"] == nil { manifest["version"] = "0" }
        if manifest["tasks"] == nil { manifest["tasks"] = [] }
        host.hearsSessions = manifest["sessions"] == true
        host.hearsTaskMarks = manifest["taskMarks"] == true
        return .object(manifest)
    }

    // MARK: Further ones

    /// Starts another process, and brings it to where the one before was.
    ///
    /// - Returns: nil where it is no good, which has been seen to.
    func startAnother() async -> PluginProcessMember? {
        await ChildProcess.prepareGroup()
        // The code that asked for it did so before this turn.
        guard mayStart else { return nil }
        let member: PluginProcessMember
        do throws(BridgeError) { member = try spawn() } catch {
            fault(PluginProcessFault(), lost: nil, because: error.message)
            return nil
        }
        let manifest: JSON
        do throws(BridgeError) {
            let said = try await greet(member)
            manifest = said.withInterceptedTasks(
                try await member.prepare(section: host.configured, start: host.started))
            // Stores are opened by these. Those of a pool run in its first process alone.
            if pool == nil { try await member.launch(host.launched.filter { $0.worker.phase <= .beforeListening }) }
        } catch {
            // Where it has ended, that has been seen to.
            if members.contains(where: { $0 === member }) { member.process.fail("does not start: \(error.message)") }
            return nil
        }
        guard !supervision.isOver, members.contains(where: { $0 === member }) else { return nil }
        member.becomeReady()
        if host.current == nil {
            host.current = member.link
            host.takeInterceptedTasks(of: manifest)
        }
        return member
    }

    /// The process in the place of one that had all calls.
    private func restart() async {
        guard mayStart, members.isEmpty, let member = await startAnother() else { return }
        supervision.noteRestart()
        host.current = member.link
        host.instance?.restarted()
        await launchLate(member)
    }

    /// What the plugin does once calls come in.
    private func launchLate(_ member: PluginProcessMember) async {
        do throws(BridgeError) {
            try await member.launch(host.launched.filter { $0.worker.phase > .beforeListening })
        } catch {
            log.logger.error("\(name): a launch worker failed in its new process: \(error.message)")
        }
    }

    /// A process that nothing is wrong with gets no further calls, and ends.
    func retire(_ member: PluginProcessMember) {
        members.removeAll { $0 === member }
        host.forget(member.link)
        pool?.forget(member)
        if host.current === member.link { host.current = members.first(where: \.isReady)?.link }
        member.retire()
    }

    // MARK: Faults

    private func ended(_ process: PluginProcess, _ fault: PluginProcessFault) {
        supervision.ended()
        defer { if supervision.isOver { finish() } }
        guard let index = members.firstIndex(where: { $0.process === process }) else {
            // One that was retired.
            let error = fault.error(of: name, restart: nil)
            host.instance?.workEnded(process.link.close(error), error)
            return
        }
        let member = members.remove(at: index)
        member.stopPings()
        host.forget(member.link)
        pool?.forget(member)
        if host.current === member.link { host.current = members.first(where: \.isReady)?.link }
        guard !supervision.isOver, !process.isEndExpected else {
            let error = fault.error(of: name, restart: nil)
            host.instance?.workEnded(member.link.close(error), error)
            return
        }
        self.fault(fault, lost: member, because: nil)
    }

    private func fault(_ fault: PluginProcessFault, lost member: PluginProcessMember?, because reason: String?) {
        let isOpen = host.instance?.state == .running || host.instance?.state == .restarting
        let verdict = supervision.fault(
            reason.map { "\(fault.description): \($0)" } ?? fault.description, isOpen: isOpen, at: EventLoop.now,
            chance: Double.random(in: 0...1))
        var error = fault.error(of: name, restart: verdict.duration)
        if let reason { error.message += ": \(reason)" }
        let lost = member?.link.close(error) ?? []
        if verdict != .none, host.current != nil {
            host.instance?.oneCrashed(error, lost: lost)
        } else {
            host.instance?.crashed(error, lost: lost, isRestarting: verdict != .none)
        }
        guard isOpen else { return }
        report(error, verdict.duration)
        switch verdict {
        case .pause(let duration): startAgain(after: duration)
        case .pauseOn: break
        case .none: for other in members { other.retire() }
        }
    }

    private func report(_ error: BridgeError, _ pause: Duration?) {
        if let pause {
            log.logger.warning("\(error.message); it is started again in \(pause.wholeMilliseconds) ms")
        } else {
            log.logger.error(
                "\(error.message), too often within a minute: its tasks are unavailable until bridge.plugin.reload")
        }
    }

    private func startAgain(after pause: Duration) {
        pauseTimer = LoopTimer { [weak self] in
            guard let self else { return }
            pauseTimer?.close()
            pauseTimer = nil
            supervision.resume()
            if let pool { return pool.fill() }
            Task { @LoopActor in await self.restart() }
        }
        pauseTimer?.schedule(after: pause)
    }

    /// A process of the pool has come where there was none.
    func noteRestart() {
        supervision.noteRestart()
        host.instance?.restarted()
    }

    // MARK: The end

    /// The processes are about to be stopped: that they end is no fault. The host asks the one that it speaks to
    /// itself.
    func expectEnd() {
        for member in members {
            member.process.isEndExpected = true
            if member.link !== host.current { member.retire() }
        }
    }

    /// The plugin is no longer known.
    func end() {
        guard supervision.end() else { return }
        pauseTimer?.close()
        pauseTimer = nil
        pool?.end()
        for member in members {
            member.stopPings()
            member.process.finish()
        }
        finish()
    }

    /// Waits for the end of all its processes: a second or two after ``end()`` at the latest.
    func hasEnded() async {
        if supervision.running > 0 { _ = await ends.wait() }
    }

    /// What holds on to each other lets go, once there is no longer a process.
    private func finish() {
        guard supervision.running == 0 else { return }
        ends.resumeAll(())
        pool = nil
        host.detach()
    }
}
