import BridgeClient
import BridgeJSON
import EventLoop
import Glibc
import PrivateDaemon

/// Builds and runs a plugin, again after every save, until it is cancelled.
@LoopActor
final class DevelopmentRun {
    private let project: PluginProject
    private let folder: PrivateFolder
    private let socketPath: String
    private let program: String
    private var daemon: DevelopmentDaemon?
    private var debounce = SaveDebounce()
    private var ownWrites = OwnWrites()
    /// The files saved since the plugin was loaded, and the time of the first save; `nil` if there are none.
    private var saved: (paths: Set<String>, first: MonotonicInstant)?
    private var isDue = false
    private let saves = AsyncSignal<Void>()
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - socketPath: The path of the daemon's socket; `nil` for the folder's.
    ///   - program: The command for this program in a shell.
    init(_ project: PluginProject, in folder: PrivateFolder, at socketPath: String?, program: String) {
        self.project = project
        self.folder = folder
        self.socketPath = socketPath ?? folder.socketPath
        self.program = program
    }

    /// Runs until the Swift task is cancelled. The daemon has ended when this returns.
    func run() async throws {
        let watcher = try FolderWatcher(project.folder, skipping: PluginProject.isProduct) { [unowned self] in
            take($0)
        }
        timer = LoopTimer { [unowned self] in wake() }
        defer {
            watcher.close()
            timer?.close()
        }
        do {
            while !Task.isCancelled {
                if try await build() { try await bring() }
                ownWrites.load(at: EventLoop.now)
                await nextSave()
            }
        } catch {
            await daemon?.stop()
            throw error
        }
        await daemon?.stop()
    }

    private func show(_ text: String) { Screen.output.write(text + "\n") }
    private func announce(_ text: String) { show(Screen.output.bold(text)) }

    // MARK: Saves

    private func take(_ change: FolderWatcher.Change) {
        switch change {
        case .unwatched(let path, let error): show("warning: \(path) is not watched: \(error.reason)")
        case .changed(let path):
            if saved == nil { saved = ([], EventLoop.now) }
            saved?.paths.insert(path)
        }
        debounce.save(at: EventLoop.now)
        if let due = debounce.due { timer?.schedule(at: due) }
    }

    private func wake() {
        guard debounce.take(at: EventLoop.now) else {
            if let due = debounce.due { timer?.schedule(at: due) }
            return
        }
        isDue = true
        saves.resumeAll(())
    }

    private func nextSave() async {
        repeat {
            while !isDue, !Task.isCancelled { _ = await saves.wait() }
            isDue = false
        } while !Task.isCancelled && !isToBeLoaded()
    }

    /// Returns whether the saved files require the plugin to be loaded again.
    private func isToBeLoaded() -> Bool {
        guard let (paths, first) = saved.take() else { return false }
        switch ownWrites.take(paths, at: first, content: OwnWrites.content) {
        case .reload: return true
        case .ignore: return false
        case .leaveOut(let paths):
            let names = paths.map { $0.dropFirst($0.hasPrefix("\(project.folder)/") ? project.folder.count + 1 : 0) }
            announce(
                "Not reloaded: \(PlainText.line(names.joined(separator: ", "))) seems to be written by "
                    + "the plugin itself: its changes no longer reload the plugin. Write to the state directory.")
            return false
        }
    }

    // MARK: Building

    /// Builds the project.
    ///
    /// - Returns: Whether there is a plugin to run.
    private func build() async throws -> Bool {
        guard let status = try await ProjectBuild.run(project, showingOn: .output) else { return true }
        guard status.isSuccess else {
            announce(
                daemon == nil
                    ? "The build failed (\(status)); the next save tries again."
                    : "The build failed (\(status)), and the plugin that runs stays; the next save tries again.")
            return false
        }
        project.shared?.link(into: project.folder)
        return true
    }

    // MARK: Running

    /// Loads the built plugin into the daemon.
    private func bring() async throws {
        do {
            try folder.offer(try project.plugin())
            if let daemon, daemon.isRunning {
                try await replace(daemon)
            } else {
                await daemon?.stop()
                daemon = nil
                try await start()
            }
        } catch let failure as ProjectFailure {
            announce("Not run: \(failure); the next save tries again.")
        }
    }

    private func start() async throws {
        let daemon = try await DevelopmentDaemon.start(in: folder, at: socketPath) { [unowned self] in show($0) }
        self.daemon = daemon
        announce("Running: \(daemon.name) \(daemon.plugin["version"]?.stringValue ?? ""). From another terminal:")
        if let call = try await daemon.exampleCall() { show("  \(program) --socket \(socketPath) \(call)") }
        show("Each save builds and reloads it; ^C ends it.")
    }

    private func replace(_ daemon: DevelopmentDaemon) async throws {
        let began = ContinuousClock.now
        do {
            try await daemon.reload()
            announce("Reloaded: \(daemon.name), in \(HumanDuration.text(ContinuousClock.now - began)).")
        } catch let error as BridgeError {
            guard error.code != .sessionClosed else { throw error }
            try await restart(daemon)
        }
    }

    /// Starts a new daemon for changes that a reload cannot apply, such as other tasks. First tries this beside the old
    /// daemon, which continues if the new one fails.
    private func restart(_ old: DevelopmentDaemon) async throws {
        let trial = try PrivateFolder(for: "dev")
        defer { trial.remove() }
        try trial.offer(try project.plugin())
        do {
            await (try await DevelopmentDaemon.start(in: trial, show: nil)).stop()
        } catch let failure as ProjectFailure {
            return announce("Not reloaded, and the plugin that runs stays: \(failure)")
        }
        show("The plugin cannot be reloaded, for example because its tasks have changed: the daemon is restarted.")
        daemon = nil
        await old.stop()
        try await start()
    }
}
