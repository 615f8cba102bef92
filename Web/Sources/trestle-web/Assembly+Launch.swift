import BridgeClient
import Glibc
import LaunchWorkers
import MainLoop
import WebContainer
import WebKitViews
import WebProfiles

// The work at launch.
extension Assembly {
    /// The program ends and has reported the reason: later workers do not run.
    struct Ended: Error {}

    /// The daemon's cookies have not arrived in time.
    struct CookiesMissing: Error, CustomStringConvertible {
        var description: String { "the daemon's cookies were not received in time" }
    }

    /// How long the first page waits for the daemon's cookies.
    private static let cookieTimeout = Duration.seconds(10)

    /// Runs the launch workers.
    ///
    /// - Parameter start: The address of the first page.
    func launch(_ start: String) async {
        do throws(LaunchFailure) {
            for worker in environmentWorkers + pageWorkers(start) { try registry.register(worker) }
            try await registry.run()
        } catch {
            guard !isEnding else { return }
            command.complain([error.description])
            end(EX_SOFTWARE)
        }
    }

    private var environmentWorkers: [LaunchWorker<LaunchPhase>] {
        [
            LaunchWorker("display.open", phase: .environment) { [unowned self] in try openDisplay() },
            LaunchWorker("instance.register", phase: .environment, after: ["display.open"]) { [unowned self] in
                try registerInstance()
            },
            LaunchWorker("container.make", phase: .environment, after: ["instance.register"]) { [unowned self] in
                makeContainer()
            },
            LaunchWorker("service.ready", phase: .environment, after: ["container.make"]) { [unowned self] in
                notifier.ready()
                MainLoop.beginTurnAgain()
            },
        ]
    }

    private func pageWorkers(_ start: String) -> [LaunchWorker<LaunchPhase>] {
        var workers = [
            // No page may be loaded without the filters.
            LaunchWorker<LaunchPhase>("filters.compile", phase: .beforePages) { [unowned self] in
                try await useFilters()
            },
            // The daemon may start later.
            LaunchWorker("daemon.connect", phase: .beforePages, after: ["filters.compile"]) { [unowned self] in
                Task { await connect() }
            },
            LaunchWorker("page.show", phase: .pages, required: command.screenshot != nil) { [unowned self] in
                try await show(start)
            },
        ]
        if profile.cookies == .sync {
            workers.append(
                LaunchWorker("cookies.copy", phase: .beforePages, after: ["daemon.connect"], required: false) {
                    [unowned self] in try await cookiesArrive()
                })
        }
        if let file = command.screenshot {
            workers.append(
                LaunchWorker("picture.write", phase: .pages, after: ["page.show"]) { [unowned self] in
                    try await writePicture(file)
                })
        }
        workers.append(
            LaunchWorker("pool.prewarm", phase: .afterPages, required: false) { [unowned self] in
                try await container?.prewarm()
            })
        if !command.noTasks {
            workers.append(
                LaunchWorker("tasks.provide", phase: .afterPages, after: ["pool.prewarm"], required: false) {
                    [unowned self] in try await provision.wait()
                })
        }
        if let uri = command.uri, profile.hasScheme(of: uri) {
            // The page receives the address in an event.
            workers.append(
                LaunchWorker(
                    "address.open", phase: .afterPages, after: command.noTasks ? [] : ["tasks.provide"], required: false
                ) { [unowned self] in container?.opened(uri) })
        }
        return workers
    }

    private func openDisplay() throws(Ended) {
        guard !WebEngine.start() else { return }
        command.complain(["there is no display; set DISPLAY or WAYLAND_DISPLAY, or run it under xvfb-run"])
        throw ended(EX_UNAVAILABLE)
    }

    /// Ensures one instance of a profile at a time, except for screenshots.
    private func registerInstance() throws(Ended) {
        guard let profile = command.profile, command.screenshot == nil,
            let instance = SingleInstance("io.trestle.Web.profile_\(profile)")
        else { return }
        guard instance.register() else {
            instance.handOver(command.uri.map { [$0] } ?? [])
            throw ended(EX_OK)
        }
        self.instance = instance
    }

    /// Activates the filters of the profile.
    private func useFilters() async throws(Ended) {
        do throws(Container.FilterRefusal) {
            try await container?.setFilters(profile.filters, of: .profile)
        } catch {
            command.complain(["filters: \(error)"])
            guard case .wrong = error else { throw ended(EX_TEMPFAIL) }
            throw ended(EX_CONFIG)
        }
    }

    /// Waits until the first page may be loaded with the daemon's cookies.
    private func cookiesArrive() async throws {
        let timer = LoopSource.timer(after: Self.cookieTimeout) { [arrival] in arrival.fail(CookiesMissing()) }
        defer { timer.cancel() }
        try await arrival.wait()
    }

    private func show(_ start: String) async throws {
        guard let page = container?.open() else { return }
        do throws(LoadProblem) {
            let isWhole = command.screenshot != nil || command.uri.map { profile.hasScheme(of: $0) } ?? false
            try await page.load(start, untilFinished: isWhole)
        } catch {
            command.complain(["\(start) is not shown: \(error)"])
            if command.screenshot != nil { throw ended(1) }
            throw error
        }
    }

    private func writePicture(_ file: String) async throws(Ended) {
        guard let view = container?.pages.values.first?.view else { throw ended(1) }
        let picture: [UInt8]
        do throws(EngineError) {
            picture = try await view.snapshot()
        } catch {
            command.complain(["no picture was taken: \(error)"])
            throw ended(1)
        }
        throw ended(write(picture, file) ? 0 : 1)
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

    private func ended(_ status: Int32) -> Ended {
        end(status)
        return Ended()
    }
}
