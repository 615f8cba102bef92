import BridgeJSON
import EventLoop
import Logging
import TaskRuntime
import WorkerProtocol

/// Keeps a plugin's process alive: starts it, pings it, starts it anew after a fault, gives it up after too many, and
/// replaces it by a newer one. Loop thread only.
@LoopActor
final class WorkerSupervisor {
    /// How long things may take.
    struct Times: Sendable {
        /// An answer to `plugin.hello`.
        var hello = Duration.seconds(10)
        /// Between pings, and for the answer to one.
        var ping = Duration.seconds(10)
        /// Configuring and starting.
        var start = Duration.seconds(60)
        /// Finishing what a process works on that is being replaced.
        var drain = Duration.seconds(5)
    }

    private var command: WorkerCommand
    /// Reads the command anew; throws where it is no good any more.
    private let reread: () throws(BridgeError) -> WorkerCommand
    private let host: WorkerHost
    private let runtime: TaskRuntime
    private let times: Times
    private let log: HostLog

    private var process: WorkerProcess?
    private var policy = RestartPolicy()
    private var timer: LoopTimer?
    private var pingTimer: LoopTimer?
    private var pingRequest: UInt64?
    /// Whether it takes pings while it works.
    private var isPingedAlways = false
    private var isOver = false
    /// Processes that have not ended.
    private var running = 0
    private let ends = WaitingList<Void>()
    private var isReloading = false
    private(set) var status = WorkerStatus(pid: nil, restarts: 0, lastFault: nil)

    init(
        _ command: WorkerCommand, host: WorkerHost, runtime: TaskRuntime, times: Times, log: HostLog,
        reread: @escaping () throws(BridgeError) -> WorkerCommand
    ) {
        self.command = command
        self.host = host
        self.runtime = runtime
        self.times = times
        self.log = log
        self.reread = reread
    }

    private var name: String { host.slot?.name ?? command.name ?? command.path }

    // MARK: The first start

    /// Starts the plugin's process for the first time.
    ///
    /// - Returns: what the plugin says of itself: its manifest.
    /// - Throws: `plugin.unavailable`.
    func start() async throws(BridgeError) -> JSON {
        let process = try spawn(command)
        self.process = process
        host.current = process.link
        do throws(BridgeError) {
            let manifest = try await greet(process)
            notePid()
            schedulePing()
            return manifest
        } catch {
            end()
            throw error
        }
    }

    private func spawn(_ command: WorkerCommand) throws(BridgeError) -> WorkerProcess {
        do {
            let process = try WorkerProcess(
                command, link: WorkerLink(host),
                lineBytes: runtime.limits.messageBytes + WorkerProtocol.envelopeBytes
            ) { [self] process, fault in ended(process, fault) }
            running += 1
            return process
        } catch {
            throw BridgeError(.pluginUnavailable, "it cannot be started: \(error)")
        }
    }

    /// Says hello, and puts what the worker answers together with what its file says.
    private func greet(_ process: WorkerProcess) async throws(BridgeError) -> JSON {
        let options: JSON = [
            "protocol": ["name": .string(WorkerProtocol.name), "version": .string(WorkerProtocol.version)],
            "plugin": command.name.map { .string($0) } ?? .null,
            "daemon": ["name": "trestled", "version": .string(runtime.daemon.version)],
            "limits": ["messageBytes": .number(JSONNumber(runtime.limits.messageBytes))],
        ]
        let answer = try await ask(process, "plugin.hello", options, within: times.hello)
        let other = answer["protocol"]?["version"]?.stringValue ?? WorkerProtocol.version
        guard other.split(separator: ".").first == WorkerProtocol.version.split(separator: ".").first else {
            throw BridgeError(
                .pluginUnavailable,
                "it speaks version \(other.prefix(32)) of the worker protocol, this daemon \(WorkerProtocol.version)")
        }
        var manifest = answer.objectValue ?? [:]
        for (key, value) in command.manifest.objectValue ?? [:] { manifest[key] = value }
        if let name = command.name { manifest["name"] = .string(name) }
        if manifest["version"] == nil { manifest["version"] = "0" }
        if manifest["tasks"] == nil { manifest["tasks"] = [] }
        host.hearsSessions = manifest["sessions"] == true
        isPingedAlways = manifest["ping"] == "always"
        return .object(manifest)
    }

    /// Asks the process something; not to know it is an answer, as good as an empty one.
    private func ask(
        _ process: WorkerProcess, _ task: String, _ options: JSON, within limit: Duration
    ) async throws(BridgeError) -> JSON {
        let outcome: Result<JSON, BridgeError> = await withCheckedContinuation { continuation in
            var timer: LoopTimer?
            let request = process.link.request(task, options) { outcome in
                LoopActor.assumeIsolated {
                    timer?.close()
                    timer = nil
                }
                continuation.resume(returning: outcome)
            }
            timer = LoopTimer { [weak process] in
                timer?.close()
                process?.link.forget(request)
                let error = BridgeError(.pluginUnavailable, "it did not answer \(task) within \(limit)")
                process?.fail("did not answer \(task) within \(limit)")
                continuation.resume(returning: .failure(error))
            }
            timer?.schedule(after: limit)
        }
        if case .failure(let error) = outcome, error.code == .taskNotFound { return .object([:]) }
        return try outcome.get()
    }

    private func notePid() { status.pid = process?.pid }

    // MARK: Faults

    private func ended(_ process: WorkerProcess, _ fault: WorkerFault) {
        running -= 1
        host.forget(process.link)
        defer { if isOver { letGo() } }
        let isCurrent = process === self.process
        guard isCurrent, !isOver, !process.isEndExpected else {
            let error = fault.error(of: name, restart: nil)
            let lost = process.link.close(error)
            if isCurrent { forgetProcess() }
            host.slot?.workEnded(lost, error)
            return
        }
        forgetProcess()
        let isOpen = host.slot?.state == .running || host.slot?.state == .restarting
        let pause = isOpen ? policy.fault(at: EventLoop.now, chance: Double.random(in: 0...1)) : nil
        let error = fault.error(of: name, restart: pause)
        status.lastFault = fault.description
        let lost = process.link.close(error)
        host.slot?.crashed(error, lost: lost, isRestarting: pause != nil)
        guard isOpen else { return }
        report(error, pause)
        if let pause { restart(after: pause) }
    }

    private func forgetProcess() {
        process = nil
        host.current = nil
        pingRequest = nil
        pingTimer?.close()
        pingTimer = nil
        notePid()
    }

    private func report(_ error: BridgeError, _ pause: Duration?) {
        if let pause {
            log.logger.warning("\(error.message); it is started again in \(pause.milliseconds) ms")
        } else {
            log.logger.error(
                "\(error.message), too often within a minute: its tasks are unavailable until bridge.plugin.reload")
        }
    }

    private func restart(after pause: Duration) {
        timer?.close()
        timer = LoopTimer { [weak self] in
            self?.timer?.close()
            self?.timer = nil
            Task { @LoopActor [weak self] in await self?.restart() }
        }
        timer?.schedule(after: pause)
    }

    private func restart() async {
        guard !isOver, process == nil else { return }
        let next: WorkerProcess
        do throws(BridgeError) { next = try spawn(command) } catch {
            return startFailed(error)
        }
        process = next
        notePid()
        let manifest: JSON
        do throws(BridgeError) {
            manifest = try await prepare(next)
        } catch {
            // Where it has ended, that has been seen to.
            if process === next { next.fail("does not start: \(error.message)") }
            return
        }
        guard process === next, !isOver else { return }
        status.restarts += 1
        takeCalls(next, manifest)
    }

    private func startFailed(_ error: BridgeError) {
        let pause = policy.fault(at: EventLoop.now, chance: Double.random(in: 0...1))
        var crash = WorkerFault().error(of: name, restart: pause)
        crash.message += ": \(error.message)"
        status.lastFault = crash.message
        host.slot?.crashed(crash, lost: [], isRestarting: pause != nil)
        report(crash, pause)
        if let pause { restart(after: pause) }
    }

    /// Brings a new process to where the one before was.
    ///
    /// - Returns: its manifest.
    private func prepare(_ next: WorkerProcess) async throws(BridgeError) -> JSON {
        let manifest = try await greet(next)
        if let section = host.configured {
            _ = try await ask(next, "plugin.configure", section, within: times.start)
        }
        guard let options = host.started else { return manifest }
        return manifest.withInterceptedTasks(try await ask(next, "plugin.start", options, within: times.start))
    }

    /// Who may call what was settled when the daemon started.
    private func checkTasks(of manifest: JSON) throws(BridgeError) {
        let new = Set((manifest["tasks"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue })
        let old = Set(host.slot?.manifest.tasks.map(\.name) ?? [])
        let interceptors = Set((manifest["interceptors"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue })
        guard interceptors == Set(host.slot?.manifest.interceptors.map(\.name) ?? []) else {
            throw BridgeError(
                .pluginUnavailable,
                "its interceptors are others: a plugin with other interceptors takes a restart of the daemon")
        }
        guard new != old else { return }
        let changed = new.symmetricDifference(old).sorted().joined(separator: ", ")
        throw BridgeError(
            .pluginUnavailable,
            "its tasks are others (\(changed)): a plugin with other tasks takes a restart of the daemon")
    }

    private func takeCalls(_ next: WorkerProcess, _ manifest: JSON) {
        host.current = next.link
        host.takeInterceptedTasks(of: manifest)
        notePid()
        schedulePing()
        host.slot?.restarted()
    }

    // MARK: Pings

    private func schedulePing() {
        pingTimer?.close()
        pingTimer = LoopTimer { [weak self] in self?.ping() }
        pingTimer?.schedule(after: times.ping)
    }

    private func ping() {
        guard let process, !process.isEndExpected else { return }
        guard pingRequest == nil else {
            return process.fail("did not answer a ping within \(times.ping)")
        }
        if isPingedAlways || process.link.isIdle {
            pingRequest = process.link.request("plugin.ping", [:]) { [weak self] _ in
                LoopActor.assumeIsolated { self?.pingRequest = nil }
            }
        }
        pingTimer?.schedule(after: times.ping)
    }

    // MARK: Another one in its place

    /// Starts another process with what the files say now. It takes over once it is ready; the one before finishes what it
    /// works on. Where it is no good, everything stays as it was.
    func reload(_ done: ReloadReply) {
        guard !isReloading, !isOver else {
            return done(.failure(BridgeError(.busy, "the plugin is being started anew", isTransient: true)))
        }
        isReloading = true
        Task { @LoopActor [weak self] in
            guard let self else { return }
            do throws(BridgeError) {
                try await replace()
                done(.success(["version": .string(host.slot?.manifest.version ?? "")]))
            } catch {
                done(.failure(error))
            }
            isReloading = false
        }
    }

    private func replace() async throws(BridgeError) {
        let before = command
        command = try reread()
        let next: WorkerProcess
        do throws(BridgeError) {
            next = try spawn(command)
        } catch {
            command = before
            throw error
        }
        let manifest: JSON
        do throws(BridgeError) {
            manifest = try await prepare(next)
            try checkTasks(of: manifest)
        } catch {
            command = before
            next.finish()
            throw BridgeError(
                .pluginUnavailable, "the new process is no good, and the one before stays: \(error.message)")
        }
        let old = process
        timer?.close()
        timer = nil
        policy.reset()
        process = next
        takeCalls(next, manifest)
        if let old { drain(old) }
    }

    /// What an old process works on it may finish.
    private func drain(_ old: WorkerProcess) {
        old.isEndExpected = true
        let timer = LoopTimer { old.finish() }
        timer.schedule(after: times.drain)
        old.link.whenIdle = { [weak self] in
            LoopActor.assumeIsolated {
                timer.close()
                guard let self else { return old.finish() }
                Task { @LoopActor in
                    _ = try? await self.ask(old, "plugin.stop", [:], within: self.times.drain)
                    old.finish()
                }
            }
        }
    }

    // MARK: The end

    /// The process is about to be stopped: that it ends is no fault.
    func expectEnd() { process?.isEndExpected = true }

    /// The plugin is known no more.
    func end() {
        isOver = true
        timer?.close()
        timer = nil
        pingTimer?.close()
        pingTimer = nil
        process?.finish()
        letGo()
    }

    /// Waits for the end of all its processes: a second or two after ``end()`` at the latest.
    func hasEnded() async {
        if running > 0 { _ = await ends.wait() }
    }

    /// What holds on to each other lets go, once there is no process any more.
    private func letGo() {
        guard running == 0 else { return }
        ends.resumeAll(())
        host.detach()
    }
}
