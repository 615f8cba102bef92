// Reading the configuration again while the daemon serves. A reload is atomic: all problems are found before anything
// is changed.
import BridgeJSON
import BridgeServer
import EventLoop
import Logging
import TaskHosts
import TaskRuntime

/// Reloads the configuration of a daemon, one reload after the other.
@LoopActor
final class Reloader {
    /// Called when a reload begins, and when it has ended, successfully or not; notifies the service manager. Always in
    /// pairs.
    var began: (@LoopActor () -> Void)?
    var ended: (@LoopActor () -> Void)?

    /// The owner of this object.
    private unowned let daemon: Daemon
    private var running: Task<Outcome, Never>?
    /// The reload that begins after the running one.
    private var next: Task<Outcome, Never>?

    typealias Outcome = Result<ReloadReport, BridgeError>

    init(_ daemon: Daemon) { self.daemon = daemon }

    /// Reads and applies the configuration. If a reload is running, another one follows, because the file may have
    /// changed after it was read. All requests until then share that one.
    ///
    /// - Parameter occasion: The trigger, for the log.
    func reload(_ occasion: String) async -> Outcome {
        if let next { return await next.value }
        let before = running
        let task = Task {
            _ = await before?.value
            running = next
            next = nil
            return await begin(occasion)
        }
        next = task
        return await task.value
    }

    private func begin(_ occasion: String) async -> Outcome {
        began?()
        defer { ended?() }
        do throws(ReloadFailure) {
            let report = try await daemon.changes.take { () throws(ReloadFailure) in try await carryOut() }
            daemon.noteReload(report, occasion)
            return .success(report)
        } catch {
            note(error, occasion)
            return .failure(error.answer)
        }
    }

    private func carryOut() async throws(ReloadFailure) -> ReloadReport {
        try checkServing()
        let reading = try await read()
        let new = reading.configuration
        let plugins = daemon.runtime.plugins.filter { !new.disabledPlugins.contains($0.name) }
        let problems = await reading.problems + check(plugins, new)
        try checkServing()
        if !problems.isEmpty { throw .refused(ConfigurationErrors(problems: problems)) }
        let ability = ReloadAbility(
            plugins: Set(plugins.filter(\.manifest.isReloadable).map(\.name)),
            ownsSocket: daemon.server.ownsSocket)
        let difference = daemon.configuration.difference(to: new, ability)
        let changed = plugins.filter { difference.plugins.contains($0.name) }
        try await reconfigure(changed, new)
        if difference.applied.contains("socket_mode") { try await setSocketMode(new, changed) }
        // From here on, no other code runs on the loop until the end.
        daemon.apply(difference, new)
        return ReloadReport(file: new.file, difference: difference, warnings: reading.warnings)
    }

    /// Checks that the daemon is not stopping, because its plugins are then being stopped.
    private func checkServing() throws(ReloadFailure) {
        if daemon.isStopping { throw .stopping }
    }

    // MARK: Finding problems

    /// The contents of the file, before the plugins have checked their sections.
    fileprivate struct Reading: Sendable {
        var configuration: Configuration
        var problems: [ConfigurationProblem]
        var warnings: [ConfigurationProblem] = []
    }

    /// Reads the file and lists the plugins' directories on a thread that may block.
    private func read() async throws(ReloadFailure) -> Reading {
        let source = daemon.source
        let installed = daemon.installedPlugins
        do throws(ConfigurationErrors) {
            return try await BlockingWork.run { () throws(ConfigurationErrors) in
                let read = source.read()
                var reading = Reading(configuration: read.configuration, problems: read.problems)
                guard read.isOfFile else { throw ConfigurationErrors(problems: read.problems) }
                if read.problems.isEmpty { reading.warnings = read.configuration.warnings() }
                guard read.knowsPlugins else { return reading }
                reading.addPluginProblems(installed)
                return reading
            }
        } catch {
            throw .refused(error)
        }
    }

    /// Lets every plugin check its section. A plugin without a process cannot check it; an unchanged section is then
    /// valid.
    private func check(_ plugins: [PluginInstance], _ new: Configuration) async -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        for plugin in plugins {
            problems += await new.refusals(of: plugin.name) { section throws(BridgeError) in
                do throws(BridgeError) {
                    try await daemon.loader.check(plugin, section: section)
                } catch {
                    if !error.isOfLostProcess || !hasSameSection(plugin, new) { throw error }
                }
            }
        }
        return problems
    }

    private func hasSameSection(_ plugin: PluginInstance, _ new: Configuration) -> Bool {
        new.json(of: plugin.name) == daemon.configuration.json(of: plugin.name)
    }

    // MARK: Applying

    /// Passes the new sections to the plugins. If one refuses, the plugins before it get their old sections back.
    private func reconfigure(_ plugins: [PluginInstance], _ new: Configuration) async throws(ReloadFailure) {
        for (index, plugin) in plugins.enumerated() {
            do throws(BridgeError) {
                try await daemon.loader.reconfigure(plugin, section: new.json(of: plugin.name))
            } catch {
                await restore(plugins[..<index])
                try checkServing()
                throw .refused(ConfigurationErrors(problems: [new.problem(of: plugin.name, error)]))
            }
        }
        try checkServing()
    }

    /// Sets the permissions of the socket. The last step that can fail.
    private func setSocketMode(_ new: Configuration, _ changed: [PluginInstance]) async throws(ReloadFailure) {
        do throws(SystemError) {
            try daemon.server.setSocketMode(new.socketMode)
        } catch {
            await restore(changed[...])
            throw .refused(
                ConfigurationErrors(problems: [new.problem(with: "socket_mode", error.description)]))
        }
    }

    private func restore(_ plugins: ArraySlice<PluginInstance>) async {
        for plugin in plugins {
            do throws(BridgeError) {
                try await daemon.loader.reconfigure(plugin, section: daemon.configuration.json(of: plugin.name))
            } catch {
                daemon.log.error("the plugin \(plugin.name) rejects its previous configuration: \(error.message)")
            }
        }
    }

    // MARK: Reporting

    private func note(_ failure: ReloadFailure, _ occasion: String) {
        switch failure {
        case .stopping: daemon.log.notice("\(occasion): the daemon is stopping and no longer reads its configuration")
        case .refused(let errors):
            daemon.log.error("\(occasion): the configuration is invalid, and nothing was changed")
            for problem in errors.problems { daemon.log.error("\(problem)") }
        }
    }
}

extension Reloader.Reading {
    /// Adds problems with plugins that are not installed.
    fileprivate mutating func addPluginProblems(_ installed: InstalledPlugins) {
        do throws(ConfigurationErrors) {
            let libraries = try configuration.pluginLibraries()
            let unknown = configuration.problems(installedPlugins: installed.names)
            // A plugin that is not loaded yet may have this name.
            if installed.isComplete, installed.libraries == Set(libraries) {
                problems += unknown
            } else {
                warnings += unknown
            }
        } catch {
            problems += error.problems
        }
    }
}

extension BridgeError {
    /// Whether the plugin received no request or sent no answer because its process was not running.
    fileprivate var isOfLostProcess: Bool { code == .pluginUnavailable || code == .pluginCrashed }
}

/// The reason why a reload changed nothing.
private enum ReloadFailure: Error {
    case refused(ConfigurationErrors)
    case stopping

    var answer: BridgeError {
        switch self {
        case .refused(let errors): errors.refusal
        case .stopping:
            BridgeError(
                .daemonStopping, "the daemon is stopping and no longer reads its configuration",
                data: ["started": false],
                isTransient: true)
        }
    }
}
