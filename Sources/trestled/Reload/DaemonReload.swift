import BridgeJSON
import BridgeServer
import EventLoop
import Glibc
import Logging
import TaskHosts
import TaskRuntime

// The daemon's side of a reload: who asks for it, and what of the daemon follows the configuration while it serves.
extension Daemon {
    /// From now on SIGHUP and `bridge.reload` have the configuration read again.
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
        // While it launches, what it was launched with counts: the reload follows.
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

    /// The daemon serves: a reload that was asked for meanwhile begins.
    func becomeReady() {
        isReady = true
        launchEnd.resumeAll(())
        if configuration.watchesPlugins { pluginWatch = PluginWatch(self) }
        if isReloadDue { reloadOnSignal() }
    }

    /// Puts a configuration that was found good in force, as far as that can be done without a restart.
    func apply(_ difference: ConfigurationDifference, _ new: Configuration) {
        configuration = configuration.taking(difference, from: new)
        runtime.apply(configuration.runtimeLimits)
        runtime.apply(configuration.quotas)
        if difference.applied.contains(Configuration.policyChange) { runtime.apply(configuration.runtimePolicy) }
        server.apply(configuration.serverLimits)
        server.urlSchemes = Set(configuration.urlSchemes)
        loader.setStopTimeout(configuration.stopTimeout)
    }

    /// Logs it, at the more talkative of both levels, so that neither the end nor the beginning of silence is missed.
    func noteReload(_ report: ReloadReport, _ occasion: String) {
        threshold.level = min(threshold.level, configuration.logLevel.level)
        log.notice("\(occasion): read \(report.file ?? "no file, the defaults hold"); \(report.sentence)")
        for warning in report.warnings { log.warning("\(warning)") }
        threshold.level = configuration.logLevel.level
        runtime.publish("daemon.reloaded", data: report.changes)
    }
}
