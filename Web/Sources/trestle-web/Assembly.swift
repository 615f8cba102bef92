import BridgeClient
import BridgeJSON
import Glibc
import MainLoop
import WebContainer
import WebKitViews
import WebPackages
import WebProfiles
import WebTasks

/// Everything that runs, put together.
@MainActor
final class Assembly {
    private let command: TrestleWeb
    private let profile: Profile
    private var status: Int32 = 0
    private var control: ControlPlane?
    /// The last page has been closed.
    private var isFinishing = false
    /// How long the answers to calls of the last page may take.
    private static let finishPatience = Duration.seconds(2)
    private var replica: CookieReplica?
    /// The daemon's cookies, or that there are none.
    private let arrival = Arrival()
    /// The tasks are provided, so that events are published, or will not be.
    private let provision = Arrival()
    /// How long the first page waits for the daemon's cookies.
    private static let cookiePatience = Duration.seconds(10)
    private let parameters: Parameters
    /// Made first of all, before there are threads.
    private let notifier = ServiceNotifier()

    init(_ command: TrestleWeb, _ profile: Profile, _ parameters: Parameters) {
        self.command = command
        self.parameters = parameters
        self.profile = profile
    }

    /// Shows the first page, and runs until the last one is closed, or a signal comes.
    ///
    /// - Parameter start: The address.
    /// - Returns: The exit status.
    func run(_ start: String) -> Int32 {
        guard WebEngine.start() else {
            command.complain(["there is no display; set DISPLAY or WAYLAND_DISPLAY, or run it under xvfb-run"])
            return EX_UNAVAILABLE
        }
        let instance = makeInstance()
        guard instance?.register() ?? true else {
            instance?.handOver(command.uri.map { [$0] } ?? [])
            return EX_OK
        }
        let container = Container(settings)
        instance?.onOpen = { uris in
            for uri in uris { container.opened(uri) }
            if uris.isEmpty { container.opened(nil) }
        }
        container.onLastClosed = { [weak self] in self?.lastPageClosed() }
        let signals = [SIGTERM, SIGINT].map { LoopSource.signal($0) { MainLoop.quit() } }
        LoginManager.watch { change, delay in
            // The machine sleeps when the daemon has the events of all pages, for which this is held.
            container.publishByPages("lifecycle.\(change.rawValue)") { withExtendedLifetime(delay) {} }
            if change == .resumed { container.woke() }
        }
        Task {
            // No page is loaded without them, by whomever.
            guard await useFilters(container) else { return }
            Task { await connect(container) }
            if profile.cookies == .sync { await cookiesArrive() }
            await show(start, container)
            await openOwnAddress(container)
        }
        notifier.ready()
        MainLoop.run()
        notifier.stopping()
        for page in container.pages.values { page.close() }
        withExtendedLifetime((signals, instance)) {}
        return status
    }

    /// The instance of a profile: there is one at a time, but for pictures.
    private func makeInstance() -> SingleInstance? {
        guard let profile = command.profile, command.screenshot == nil else { return nil }
        return SingleInstance("io.trestle.Web.profile_\(profile)")
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

    /// Has the filters of the profile hold; false: they cannot, and the program ends.
    private func useFilters(_ container: Container) async -> Bool {
        do throws(Container.FilterRefusal) {
            try await container.setFilters(profile.filters, of: .profile)
            return true
        } catch {
            command.complain(["filters: \(error)"])
            if case .wrong = error { end(EX_CONFIG) } else { end(EX_TEMPFAIL) }
            return false
        }
    }

    /// Provides the tasks and has the daemon's cookies, now or when there is a daemon.
    private func connect(_ container: Container) async {
        guard !command.noTasks || profile.cookies == .sync || !profile.reloadsOnLogin.isEmpty else { return }
        do throws(BridgeError) {
            let bridge = try await Bridge.connect(
                socket: command.socket,
                configuration: .init(client: "trestle-web", waitForDaemon: profile.daemon == .optional))
            if profile.daemon == .required { watch(bridge) }
            let replica = try await copyCookies(bridge, container)
            arrival.come()
            await followLogins(bridge, container)
            guard !command.noTasks else { return }
            let control = ControlPlane(bridge, container, profile, replica)
            self.control = control
            try await control.provide()
            provision.come()
        } catch {
            guard !isFinishing else { return }
            command.complain(["no tasks are provided: \(error.message) (\(error.code))"])
            if profile.daemon == .required { end(EX_TEMPFAIL) }
            arrival.come()
            provision.come()
        }
    }

    /// Begins to keep the engine's cookies and the daemon's equal; nil: they are the engine's own.
    private func copyCookies(_ bridge: Bridge, _ container: Container) async throws(BridgeError) -> CookieReplica? {
        guard profile.cookies == .sync else { return nil }
        let replica = CookieReplica(bridge, container.cookies, name: "web.\(command.profile ?? "default")")
        replica.onProblem = { [weak self] in
            guard self?.isFinishing == false else { return }
            Complaint.write(["cookies are not kept equal to the daemon's: \($0.message) (\($0.code))"])
        }
        try await replica.start()
        self.replica = replica
        return replica
    }

    /// Begins to load pages again when another user logs in, where the profile says so.
    private func followLogins(_ bridge: Bridge, _ container: Container) async {
        guard !profile.reloadsOnLogin.isEmpty else { return }
        do throws(BridgeError) {
            try await LoginReloads(bridge, container, profile.reloadsOnLogin).start()
        } catch {
            guard !isFinishing else { return }
            command.complain(["storage.reload_on_login: no logins are heard of: \(error.message) (\(error.code))"])
        }
    }

    /// Returns when the first page may be loaded with the daemon's cookies, or after a while without.
    private func cookiesArrive() async {
        let timer = LoopSource.timer(after: Self.cookiePatience) { [arrival] in arrival.come() }
        await arrival.wait()
        timer.cancel()
    }

    /// Ends the program when the calls that closed the last page, and others, are answered.
    private func lastPageClosed() {
        guard let control else { return MainLoop.quit() }
        isFinishing = true
        let patience = LoopSource.timer(after: Self.finishPatience) { MainLoop.quit() }
        Task {
            await control.finish()
            patience.cancel()
            MainLoop.quit()
        }
    }

    /// Ends the program when the daemon's socket is gone. One that is restarted leaves its socket, or is waited for.
    private func watch(_ bridge: Bridge) {
        let socket = command.socket ?? Bridge.defaultSocketPath
        Task {
            for await state in bridge.states {
                guard case .waiting = state, access(socket, F_OK) != 0 else { continue }
                command.complain(["the daemon is gone, and the profile requires it: \(socket) is not there"])
                return end(EX_TEMPFAIL)
            }
        }
    }

    private func show(_ start: String, _ container: Container) async {
        guard let page = container.open() else { return }
        do throws(LoadProblem) {
            let isWhole = command.screenshot != nil || command.uri.map { profile.hasScheme(of: $0) } ?? false
            try await page.load(start, untilFinished: isWhole)
        } catch {
            command.complain(["\(start) is not shown: \(error)"])
            if command.screenshot != nil { return end(1) }
        }
        guard let file = command.screenshot else { return }
        do throws(EngineError) {
            let picture = try await page.view.snapshot()
            end(write(picture, file) ? 0 : 1)
        } catch {
            command.complain(["there is no picture: \(error)"])
            end(1)
        }
    }

    /// The address of the command line is one of the profile's own schemes, which its page hears of.
    private func openOwnAddress(_ container: Container) async {
        guard let uri = command.uri, profile.hasScheme(of: uri) else { return }
        if !command.noTasks { await provision.wait() }
        container.opened(uri)
    }

    private func write(_ bytes: [UInt8], _ path: String) -> Bool {
        let file = fopen(path, "we")
        let isWritten = file != nil && fwrite(bytes, 1, bytes.count, file) == bytes.count
        guard file != nil, fclose(file) == 0, isWritten else {
            command.complain(["\(path) cannot be written: \(String(cString: strerror(errno)))"])
            return false
        }
        return true
    }

    private func end(_ status: Int32) {
        self.status = status
        MainLoop.quit()
    }
}
