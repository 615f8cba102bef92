// The handling of plugin files that appear, change or disappear while the daemon serves, if plugin_watch is set.
import BridgeJSON
import EventLoop
import Glibc
import Logging
import TaskHosts
import TaskRuntime

/// Watches the plugin directories. Changes are processed when there were no further changes for a moment, because a
/// file may take several writes and a plugin several files.
@LoopActor
final class PluginWatch {
    /// The time without changes after which changes are processed.
    private static let quiet = Duration.milliseconds(300)

    private unowned let daemon: Daemon
    private var watchers: [FolderWatcher] = []
    private var changed: Set<String> = []
    /// Changed files that are not plugins but may belong to plugin processes.
    private var touched: Set<String> = []
    private var timer: LoopTimer?
    private var isDue = false
    /// Whether changes are processed. Before the daemon is ready they are only recorded.
    private var hasBegun = false

    /// Begins to watch: before the directories are searched, so that no file is missed that appears during the start.
    /// Logs directories that cannot be watched.
    init(_ daemon: Daemon) {
        self.daemon = daemon
        for directory in daemon.configuration.pluginSearch.directories {
            do throws(SystemError) {
                watchers.append(
                    try FolderWatcher(directory.path, isDeep: false) { [weak self] in self?.note($0, in: directory) })
            } catch  where error.code == ENOENT && !daemon.configuration.pluginSearch.isNamed {
                // A candidate that does not exist.
                continue
            } catch {
                daemon.log.error("changes of the plugins in \(directory.path) will not be seen: \(error)")
            }
        }
    }

    /// Begins to process changes, those during the start first.
    func begin() {
        hasBegun = true
        if !changed.isEmpty || !touched.isEmpty { schedule() }
    }

    /// Stops watching.
    func close() {
        for watcher in watchers { watcher.close() }
        watchers = []
        timer?.close()
        timer = nil
    }

    private func note(_ change: FolderWatcher.Change, in directory: PluginSearch.Directory) {
        guard case .changed(let path) = change else { return }
        if path == directory.path {
            // Too many changes: the individual ones are unknown.
            changed.formUnion((try? directory.libraries()) ?? [])
            changed.formUnion(daemon.runtime.plugins.map(\.path).filter { $0.parentFolder == directory.path })
        } else if directory.counts(String(path.dropFirst(directory.path.count + 1))) {
            changed.insert(path)
        } else {
            touched.insert(path)
            // A file that is written all the time must not delay other changes.
            if isDue { return }
        }
        if hasBegun { schedule() }
    }

    private func schedule() {
        if timer == nil { timer = LoopTimer { [weak self] in self?.carryOut() } }
        timer?.schedule(after: Self.quiet)
        isDue = true
    }

    /// Returns the manifests whose command names one of these files.
    private func processes(running files: Set<String>) -> [String] {
        daemon.runtime.plugins.map(\.path).filter { path in
            guard path.hasSuffix(PluginProcessManifest.suffix),
                let command = try? PluginProcessManifest.command(at: path)
            else { return false }
            return !files.isDisjoint(with: PluginProcessManifest.files(of: command.arguments, in: command.directory))
        }
    }

    private func carryOut() {
        isDue = false
        // Once for all files, because it reads the manifests.
        if !touched.isEmpty { changed.formUnion(processes(running: touched)) }
        touched = []
        let paths = changed.sorted()
        changed = []
        Task { @LoopActor in for path in paths { await daemon.follow(path) } }
    }
}

extension Daemon {
    /// Handles the file of a plugin that appeared, changed or disappeared.
    fileprivate func follow(_ path: String) async {
        let plugin = runtime.plugins.first { $0.path == path }
        let isThere = access(path, F_OK) == 0
        do throws(BridgeError) {
            switch (plugin, isThere) {
            case (let plugin?, true): _ = try await carryOut(.reload(name: plugin.name, path: nil))
            case (let plugin?, false): _ = try await carryOut(.unload(name: plugin.name))
            case (nil, true): _ = try await carryOut(.load(path: path))
            case (nil, false): runtime.refusedPlugins.removeAll { $0.path == path }
            }
        } catch {
            // A failed reload was already logged.
            guard plugin == nil else { return }
            log.error("the plugin \(path) is not used: \(error.message)")
            runtime.refusedPlugins.removeAll { $0.path == path }
            loader.refuse(nil, path: path, reason: error.message)
        }
    }
}
