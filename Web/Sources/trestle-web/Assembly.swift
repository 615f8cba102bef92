import BridgeClient
import BridgeJSON
import Glibc
import LaunchWorkers
import MainLoop
import WebContainer
import WebKitViews
import WebPackages
import WebProfiles
import WebTasks

/// The running program with all its parts.
@MainActor
final class Assembly {
    let command: TrestleWeb
    let profile: Profile
    private var status: Int32 = 0
    /// Whether the program ends and has reported the reason.
    private(set) var isEnding = false
    /// The startup work.
    let registry: LaunchRegistry<LaunchPhase>
    private(set) var container: Container?
    var instance: SingleInstance?
    private var control: ControlPlane?
    /// Whether the last page has been closed.
    private var isFinishing = false
    /// How long the program waits at its end for the answers to calls.
    private static let finishTimeout = Duration.seconds(2)
    private var replica: CookieReplica?
    /// The arrival of the daemon's cookies, or the fact that there are none.
    let arrival = Arrival()
    /// The arrival of the moment when tasks are provided and events are published, or its failure.
    let provision = Arrival()
    private let parameters: Parameters
    /// Created first, before there are threads.
    let notifier = ServiceNotifier()

    init(_ command: TrestleWeb, _ profile: Profile, _ parameters: Parameters) {
        let beginning = ContinuousClock.now
        registry = LaunchRegistry { beginning.duration(to: .now) }
        self.command = command
        self.parameters = parameters
        self.profile = profile
    }

    /// Shows the first page, and runs until the last page is closed or a signal arrives.
    ///
    /// - Parameter start: The address.
    /// - Returns: The exit status.
    func run(_ start: String) -> Int32 {
        let signals = [SIGTERM, SIGINT].map { LoopSource.signal($0) { MainLoop.quit() } }
        Task { await launch(start) }
        MainLoop.run()
        notifier.stopping()
        for page in container?.pages.values ?? [:].values { page.close() }
        withExtendedLifetime(signals) {}
        return status
    }

    /// Creates the container, which is notified of other starts of the program and of the machine's sleep and lock.
    func makeContainer() {
        let container = Container(settings)
        self.container = container
        instance?.onOpen = { uris in
            for uri in uris { container.opened(uri) }
            if uris.isEmpty { container.opened(nil) }
        }
        container.onLastClosed = { [weak self] in self?.lastPageClosed() }
        LoginManager.watch { change, delay in
            // The machine sleeps after the daemon has the events of all pages: the lock is held until then.
            container.publishByPages("lifecycle.\(change.rawValue)") { withExtendedLifetime(delay) {} }
            if change == .resumed { container.woke() }
        }
    }

    private var settings: ContainerSettings {
        let data = getenv("XDG_DATA_HOME").map { String(cString: $0) }
        let home = getenv("HOME").map { String(cString: $0) }
        let folder = (data ?? home.map { "\($0)/.local/share" }).map {
            "\($0)/trestle/web/\(command.profile ?? "default")"
        }
        var settings = ContainerSettings(
            profile, socket: command.socket ?? Bridge.defaultSocketPath, storage: folder)
        settings.packages = PackageLocation.path.map { PackageLibrary($0, keys: profile.packageKeys) }
        settings.parameters = parameters
        settings.filterCompiler = CompileFilters.commandLine
        settings.view.isForDevelopers = command.dev
        settings.view.userAgentSuffix = command.userAgentAppend
        return settings
    }

    /// Provides the tasks and copies the daemon's cookies, now or when there is a daemon.
    func connect() async {
        guard let container, needsDaemon else { return }
        do throws(BridgeError) {
            let bridge = try await Bridge.connect(
                socket: command.socket,
                configuration: .init(client: "trestle-web", waitForDaemon: profile.daemon == .optional))
            if profile.daemon == .required { watch(bridge) }
            let replica = try await copyCookies(bridge, container)
            arrival.come()
            await followLogins(bridge, container)
            guard !command.noTasks else { return }
            let control = ControlPlane(bridge, container, profile, replica) { [registry] in registry.reports }
            self.control = control
            try await control.provide()
            provision.come()
        } catch {
            guard !isFinishing else { return }
            command.complain(["no tasks are provided: \(error.message) (\(error.code))"])
            if profile.daemon == .required { end(EX_TEMPFAIL) }
            arrival.fail(error)
            provision.fail(error)
        }
    }

    /// Whether the profile needs a connection to the daemon, besides those of pages.
    private var needsDaemon: Bool {
        !command.noTasks || profile.cookies == .sync || !profile.reloadsOnLogin.isEmpty
    }

    /// Starts to keep the engine's cookies and the daemon's equal; `nil` if the engine has cookies of its own.
    private func copyCookies(_ bridge: Bridge, _ container: Container) async throws(BridgeError) -> CookieReplica? {
        guard profile.cookies == .sync else { return nil }
        let replica = CookieReplica(bridge, container.cookies, name: "web.\(command.profile ?? "default")")
        replica.onProblem = { [weak self] in
            guard self?.isFinishing == false else { return }
            Complaint.write(["cookies are not synchronized with the daemon's: \($0.message) (\($0.code))"])
        }
        try await replica.start()
        self.replica = replica
        return replica
    }

    /// Starts to reload pages when another user logs in, if the profile requests it.
    private func followLogins(_ bridge: Bridge, _ container: Container) async {
        guard !profile.reloadsOnLogin.isEmpty else { return }
        do throws(BridgeError) {
            try await LoginReloads(bridge, container, profile.reloadsOnLogin).start()
        } catch {
            guard !isFinishing else { return }
            command.complain([
                "storage.reload_on_login: login events are not received: \(error.message) (\(error.code))"
            ])
        }
    }

    /// Ends the program after the calls in flight, such as the one that closed the last page, are answered.
    private func lastPageClosed() {
        guard let control else { return MainLoop.quit() }
        isFinishing = true
        let timer = LoopSource.timer(after: Self.finishTimeout) { MainLoop.quit() }
        Task {
            await control.finish()
            timer.cancel()
            MainLoop.quit()
        }
    }

    /// Ends the program when the daemon's socket has been removed. A daemon that is restarted keeps its socket, or is
    /// waited for.
    private func watch(_ bridge: Bridge) {
        let socket = command.socket ?? Bridge.defaultSocketPath
        Task {
            for await state in bridge.states {
                guard case .waiting = state, access(socket, F_OK) != 0 else { continue }
                command.complain(["the daemon has stopped, and the profile requires it: \(socket) does not exist"])
                return end(EX_TEMPFAIL)
            }
        }
    }

    /// Ends the program, which has reported the reason.
    func end(_ status: Int32) {
        isEnding = true
        self.status = status
        MainLoop.quit()
    }
}
