import BridgeJSON
import BridgeServer
import EventLoop
import Glibc
import Logging
import TaskHosts
import TaskRuntime

// The daemon's side of a reload: its triggers, and the parts of the daemon that follow the configuration while it
// serves.
extension Daemon {
    /// Makes SIGHUP and `bridge.reload` read the configuration again from now on.
    func serveReloads() throws(SystemError) {
        reloader.began = { [service] in service.reloading() }
        reloader.ended = { [service] in service.ready() }
        hangUp = try SignalWatcher(SIGHUP) { [weak self] in self?.reloadOnSignal() }
        runtime.onReload = { [unowned self] call in LoopActor.assumeIsolated { self.reload(for: call) } }
        runtime.onPluginChange = { [unowned self] change, call in
            LoopActor.assumeIsolated { self.carryOut(change, for: call) }
        }
    }

    private func reloadOnSignal() {
        // During the launch, the original configuration counts; the reload follows.
        guard isReady else {
            isReloadDue = true
            return
        }
        Task { await reloader.reload("SIGHUP") }
    }

    private func reload(for call: CallHandle) {
        Task {
            let outcome = await reloader.reload("bridge.reload")
            runtime.answer(call, outcome.map(\.json))
        }
    }

    /// Begins to serve, and starts a reload that was requested meanwhile.
    func becomeReady() {
        isReady = true
        launchEnd.resumeAll(())
        pluginWatch?.begin()
        if isReloadDue { reloadOnSignal() }
    }

    /// Applies a valid configuration, as far as that is possible without a restart.
    func apply(_ difference: ConfigurationDifference, _ new: Configuration) {
        configuration = configuration.taking(difference, from: new)
        runtime.apply(configuration.runtimeLimits)
        runtime.apply(configuration.quotas)
        if difference.applied.contains(Configuration.policyChange) { runtime.apply(configuration.runtimePolicy) }
        server.apply(configuration.serverLimits)
        server.urlSchemes = Set(configuration.urlSchemes)
        loader.setStopTimeout(configuration.stopTimeout)
    }

    /// Logs a reload, at the more verbose of the old and the new level, so that the message appears in either case.
    func noteReload(_ report: ReloadReport, _ occasion: String) {
        threshold.level = min(threshold.level, configuration.logLevel.level)
        log.notice("\(occasion): read \(report.file ?? "no file, the defaults apply"); \(report.sentence)")
        for warning in report.warnings { log.warning("\(warning)") }
        threshold.level = configuration.logLevel.level
        runtime.publish("daemon.reloaded", data: report.changes)
    }
}
