import BridgeClient
import BridgeJSON
import EventLoop
import PrivateDaemon

/// Checks a plugin with one isolation: in its own process or in the daemon's.
@LoopActor
struct PluginCheck {
    /// The requested isolation; after the start, the actual one.
    private(set) var isolation: CheckFinding.Isolation
    let settings: PrivateDaemon.Settings
    let folder: PrivateFolder
    let choice: CheckChoice
    let timeout: Duration
    let report: @LoopActor (CheckFinding) -> Void

    private func record(_ task: String?, _ check: String, _ outcome: CheckFinding.Outcome, _ message: String) {
        report(CheckFinding(isolation: isolation, task: task, check: check, outcome: outcome, message: message))
    }

    /// The maximum duration of a call that must receive its own answer during a stop, because the daemon waits for
    /// seconds.
    private static let quickCall = Duration.seconds(1)

    init(
        isolation: CheckFinding.Isolation, settings: PrivateDaemon.Settings, folder: PrivateFolder, choice: CheckChoice,
        timeout: Duration, report: @escaping @LoopActor (CheckFinding) -> Void
    ) {
        self.isolation = isolation
        self.settings = settings
        self.folder = folder
        self.choice = choice
        self.timeout = timeout
        self.report = report
    }

    /// Checks the plugin. The daemons that it starts have ended when this returns.
    ///
    /// - Returns: The plugin's name; `nil` if it cannot be used.
    mutating func run() async throws -> String? {
        let daemon: CheckedDaemon
        do { daemon = try await CheckedDaemon.start(settings, in: folder) } catch let error as PrivateDaemonError {
            record(nil, "load", .failed, "the daemon does not start with it: \(error)")
            return nil
        }
        var name: String?
        do {
            if let plugin = try await runningPlugin(daemon) {
                isolation = plugin["isolation"]?.stringValue == "none" ? .inProcess : .isolated
                name = try await check(daemon, plugin)
            } else {
                _ = await daemon.stop()
            }
        } catch let error as BridgeError where error.code == .sessionClosed {
            let status = await daemon.stop()
            if status.isSuccess {
                record(nil, "stop", .skipped, "the session was closed again; not checked: leak, stop, restart")
            } else {
                record(nil, "crash", .failed, "the daemon ended while the plugin was called (\(status))")
            }
            return nil
        } catch {
            _ = await daemon.stop()
            throw error
        }
        if name != nil { try await checkSecondStart() }
        return name
    }

    private func check(_ daemon: CheckedDaemon, _ plugin: JSON) async throws -> String {
        let name = plugin["name"]?.stringValue ?? ""
        let tasks = (plugin["tasks"]?.arrayValue ?? []).compactMap(\.stringValue)
        record(
            nil, "load", .passed,
            "the plugin \(name) \(plugin["version"]?.stringValue ?? "") was started, with \(tasks.count) "
                + "\(tasks.count == 1 ? "task" : "tasks")"
        )
        for unknown in choice.unknown(among: tasks) {
            record(unknown, "call", .failed, "the plugin has no such task; it has \(tasks.joined(separator: ", "))")
        }
        var answers: [TaskCheck.Answer] = []
        for task in tasks {
            if let answer = try await check(daemon, task: task) { answers.append(answer) }
        }
        await checkOnce(daemon, answers)
        try await checkLeaks(daemon, name)
        try await checkStop(daemon, name, answers.last)
        return name
    }

    private func check(_ daemon: CheckedDaemon, task: String) async throws -> TaskCheck.Answer? {
        let description = try await daemon.client.callJSON("bridge.describe", ["task": .string(task)])
        let check = TaskCheck(
            daemon: daemon, description: description, options: choice.options(for: task), timeout: timeout,
            report: { record($0, $1, $2, $3) })
        do { return try await check.run() } catch let error as BridgeError where error.code == .sessionClosed {
            guard try await daemon.connectAgain() else { throw error }
            record(
                task, "call", .skipped,
                "a call of it closed its caller's session: the remaining checks of this task are not made")
            return nil
        }
    }

    /// Checks for surplus answers, which may arrive long after the first ones.
    private func checkOnce(_ daemon: CheckedDaemon, _ answers: [TaskCheck.Answer]) async {
        guard !answers.isEmpty else { return }
        _ = await daemon.hasSurplusAnswers(
            beyond: daemon.surplusAnswers, within: min(timeout, TaskCheck.maximumSurplusWait))
        let surplus = { (answer: TaskCheck.Answer) in daemon.surplusAnswers(of: answer.task) }
        let later = daemon.surplusAnswers - answers.reduce(0) { $0 + surplus($1) }
        let law = "each call must have exactly one"
        // With only one called task, all surplus answers are its own, however late they arrive. With several, later
        // ones are attributed to the one with earlier surplus answers, so that one fault is not reported twice.
        let suspects = answers.count == 1 ? answers : answers.filter { surplus($0) > 0 }
        let isLater = { (answer: TaskCheck.Answer) in suspects.count == 1 && suspects[0].task == answer.task }
        for answer in answers {
            let count = surplus(answer) + (isLater(answer) ? later : 0)
            if count > 0 {
                let doubt =
                    answers.count > 1 && isLater(answer) && later > 0
                    ? " (\(later) of them may belong to another task)" : ""
                record(
                    answer.task, "once", .failed,
                    "it sent \(count) surplus answers\(doubt); \(law)")
            } else {
                record(answer.task, "once", .passed, "each of its calls had one answer")
            }
        }
        guard suspects.count != 1, later > 0 else { return }
        let names = answers.map(\.task).joined(separator: ", ")
        record(nil, "once", .failed, "\(later) surplus answers were sent for calls of \(names); \(law)")
    }

    private func runningPlugin(_ daemon: CheckedDaemon) async throws -> JSON? {
        let plugins = try await daemon.client.callPages("bridge.plugins", list: "plugins")["plugins"]?.arrayValue ?? []
        guard let plugin = plugins.first else {
            record(
                nil, "load", .failed,
                "the daemon found no plugin in it: libraries end in .so, manifests in .plugin.toml")
            return nil
        }
        guard plugin["state"]?.stringValue == "running" else {
            let why = plugin["error"]?.stringValue ?? plugin["state"]?.stringValue ?? ""
            record(nil, "load", .failed, "the daemon cannot use it: \(why)")
            return nil
        }
        return plugin
    }

    /// Checks that all calls have ended.
    private func checkLeaks(_ daemon: CheckedDaemon, _ name: String) async throws {
        let status = try await daemon.client.callPages("bridge.status", list: "tasks")
        let left = (status["tasks"]?.arrayValue ?? []).filter {
            $0["name"]?.stringValue != "bridge.status" && ($0["inFlight"]?.int64Value ?? 0) > 0
        }
        let waiting = status["waitingCalls"]?.int64Value ?? 0
        let names = left.compactMap { $0["name"]?.stringValue }
        if names.isEmpty, waiting == 0 {
            record(nil, "leak", .passed, "no call is in flight or waits when all have been answered")
        } else {
            record(
                nil, "leak", .failed,
                "\(waiting) calls wait, and some are in flight (\(names.joined(separator: ", "))) when all should have "
                    + "ended"
            )
        }
        let restarts =
            status["plugins"]?.arrayValue?.first { $0["name"]?.stringValue == name }?["restarts"]?.int64Value ?? 0
        if restarts > 0 {
            let times = restarts == 1 ? "once" : "\(restarts) times"
            record(nil, "crash", .failed, "its process ended while it was checked, and was started again \(times)")
        }
    }

    /// Stops the daemon, with a call in flight if calls are allowed.
    private func checkStop(_ daemon: CheckedDaemon, _ name: String, _ answer: TaskCheck.Answer?) async throws {
        var stream: CallProgress<JSON, JSON>?
        if let answer {
            stream = try await daemon.client.callJSONWithProgress(answer.task, answer.options, timeout: timeout)
            // Once this is answered, the plugin has received the call, so it is not refused as too late.
            _ = try await daemon.client.callJSON("bridge.ping")
        }
        daemon.beginStop()
        if let stream, let answer {
            do throws(BridgeError) { _ = try await stream.result } catch { judgeStop(error, answer) }
        }
        let status = await daemon.stop()
        let complaints = daemon.lines(saying: "did not stop")
        if let first = complaints.first {
            record(nil, "stop", .failed, "the daemon was asked to stop: \(first)")
        } else if !status.isSuccess {
            record(nil, "stop", .failed, "the daemon was asked to stop, and ended with \(status)")
        } else {
            record(nil, "stop", .passed, "it finished when the daemon was asked to stop")
        }
        checkOutput(daemon, name)
    }

    /// Judges the end of a call that was in flight. An answer that differs from earlier answers of the task is
    /// accepted.
    private func judgeStop(_ error: BridgeError, _ answer: TaskCheck.Answer) {
        let sent = "the daemon was asked to stop while it worked on a call"
        switch error.code {
        case .sessionClosed:
            record(answer.task, "stop", .failed, "\(sent), and the call had no answer: \(error.message)")
        case .daemonStopping, .callTimeout, .callCancelled:
            guard answer.time > Self.quickCall else {
                return record(
                    answer.task, "stop", .failed,
                    "\(sent), and the call, which had been answered before, ended with \(error.code): \(error.message)")
            }
            record(
                answer.task, "stop", .skipped, "\(sent), and its calls may take longer than the daemon's stop")
        case .pluginCrashed, .pluginUnavailable, .replyMissing, .replyInvalid:
            record(answer.task, "stop", .failed, "\(sent), and the answer was \(error.code): \(error.message)")
        default: break
        }
    }

    private func checkOutput(_ daemon: CheckedDaemon, _ name: String) {
        if let line = daemon.outputLines.first {
            record(
                nil, "output", .failed,
                "it wrote to standard output, which is the daemon's: "
                    + "\"\(PlainText.cut(PlainText.line(line), to: 80))\"; lines for operators go to the log")
        } else if isolation == .inProcess {
            record(nil, "output", .passed, "it wrote nothing to standard output")
        }
        if let line = daemon.lines(saying: "'s thread for ").last(where: { $0.contains("; use call.blocking") }) {
            record(nil, "blocking", .failed, "it kept everything else waiting: \(line)")
        }
        if let line = daemon.lines(saying: "lines of the plugin were left out").first {
            record(nil, "output", .failed, "it exceeded the limit of the log, 100 lines per second: \(line)")
        }
    }

    /// Starts a second daemon with the same state.
    private func checkSecondStart() async throws {
        let daemon: CheckedDaemon
        do { daemon = try await CheckedDaemon.start(settings, in: folder) } catch let error as PrivateDaemonError {
            return record(nil, "restart", .failed, "a second daemon does not start on the state of the first: \(error)")
        }
        do {
            let plugins =
                try await daemon.client.callPages("bridge.plugins", list: "plugins")["plugins"]?.arrayValue ?? []
            if plugins.first?["state"]?.stringValue == "running" {
                record(nil, "restart", .passed, "it starts again on the state that it left")
            } else {
                let why = plugins.first?["error"]?.stringValue ?? ""
                record(nil, "restart", .failed, "it does not start again on the state that it left: \(why)")
            }
            _ = await daemon.stop()
        } catch {
            _ = await daemon.stop()
            throw error
        }
    }
}
