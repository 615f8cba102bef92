import BridgeJSON
import EventLoop
import Logging
import TaskRuntime
import PluginInterface

/// Supervises a plugin's single process or its pool. Starts processes again after a fault, up to a limit. Loop thread
/// only.
@LoopActor
final class PluginProcessSupervisor {
    private let command: PluginProcessCommand
    let host: PluginProcessHost
    private let runtime: TaskRuntime
    private let times: Times
    private let scheduler: FairScheduler?
    let log: HostLog
    /// Its pool; `nil` if one process gets all calls.
    var pool: PluginProcessPool?

    /// The existing and starting processes, except retired ones.
    private(set) var members: [PluginProcessMember] = []
    /// Makes the decisions about the processes, which this class carries out.
    private var supervision = PluginSupervision()
    /// The timer of the pause after a fault, in which no process is started; `nil` without a pause.
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

    /// The time limit for requests that a process can answer immediately.
    var timeout: Duration { times.ping }

    var name: String { host.instance?.name ?? command.name ?? command.path }

    /// Returns whether its processes belong to this plugin.
    func serves(_ plugin: PluginInstance) -> Bool { host.instance === plugin }

    /// The status of the processes.
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
    /// - Returns: The plugin's manifest.
    /// - Throws: `plugin.unavailable` if it does not start.
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

    /// Adds the first process to the pool, if there is one. Called when the plugin is configured and started.
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
            // Logged before the process loads anything, so that a debugger can be attached to a plugin that fails at
            // start.
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

    /// Sends `plugin.hello`, and merges the answer with the manifest in the plugin's file.
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
        host.news.setScope(manifest["sessions"])
        host.hearsTaskMarks = manifest["taskMarks"] == true
        return .object(manifest)
    }

    // MARK: Further processes

    /// Starts another process and brings it to the state of the previous one.
    ///
    /// - Returns: `nil` if it failed; the fault has been handled.
    func startAnother() async -> PluginProcessMember? {
        await ChildProcess.prepareGroup()
        // The request was made before this turn, so the state may have changed.
        guard mayStart else { return nil }
        let member: PluginProcessMember
        do throws(BridgeError) { member = try spawn() } catch {
            fault(PluginProcessFault(), lost: nil, because: error.message)
            return nil
        }
        let manifest: JSON
        do throws(BridgeError) {
            let declared = try await greet(member)
            manifest = declared.withInterceptedTasks(
                try await member.prepare(section: host.configured, start: host.started))
            // These workers open stores. In a pool, they run only in the first process.
            if pool == nil { try await member.launch(host.launched.filter { $0.worker.phase <= .beforeListening }) }
        } catch {
            // If the process has ended, the fault has been handled.
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

    /// Starts the process that replaces the one that had all calls.
    private func restart() async {
        guard mayStart, members.isEmpty, let member = await startAnother() else { return }
        supervision.noteRestart()
        host.current = member.link
        host.instance?.restarted()
        await launchLate(member)
    }

    /// Runs the launch workers for the time after the daemon listens.
    private func launchLate(_ member: PluginProcessMember) async {
        do throws(BridgeError) {
            try await member.launch(host.launched.filter { $0.worker.phase > .beforeListening })
        } catch {
            log.logger.error("\(name): a launch worker failed in its new process: \(error.message)")
        }
    }

    /// Ends a process without a fault; it gets no further calls.
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
            // It was retired before.
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

    /// Notes that a process of the pool has started after none was left.
    func noteRestart() {
        supervision.noteRestart()
        host.instance?.restarted()
    }

    // MARK: The end

    /// Marks the end of all processes as expected, so that it is no fault, and retires them. The host itself stops the
    /// current one.
    func expectEnd() {
        for member in members {
            member.process.isEndExpected = true
            if member.link !== host.current { member.retire() }
        }
    }

    /// Ends all processes of a plugin that is removed.
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

    /// Waits for the end of all its processes, at most a second or two after ``end()``.
    func hasEnded() async {
        if supervision.running > 0 { _ = await ends.wait() }
    }

    /// Breaks the reference cycles once no process is left.
    private func finish() {
        guard supervision.running == 0 else { return }
        ends.resumeAll(())
        pool = nil
        host.detach()
    }
}
