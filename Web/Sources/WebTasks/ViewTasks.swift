internal import BridgeClient
public import BridgeJSON
internal import Glibc
internal import LaunchWorkers
internal import WebContainer
internal import WebKitViews
internal import WebProfiles

/// The step of a load that a call waits for.
enum LoadWait: String, Codable, Sendable {
    case committed, finished
}

struct OpenOptions: Codable, Sendable {
    var uri: String
    var wait: LoadWait?
}

struct ViewOptions: Codable, Sendable {
    var view: Int?
}

struct NavigateOptions: Codable, Sendable {
    var view: Int?
    var uri: String
    var wait: LoadWait?
}

struct ReloadOptions: Codable, Sendable {
    var view: Int?
    var bypassCache: Bool?
    var wait: LoadWait?
}

struct ViewState: Codable, Sendable {
    var view: Int
    var uri: String
    var title: String
    var session: Int64?
    var isLoading: Bool?
}

extension ControlPlane {
    /// Provides the tasks, then publishes the event `web.ready`.
    ///
    /// - Throws: The daemon's error.
    public func provide() async throws(BridgeError) {
        try await provide("web.open", "Opens a page in a new window.") { (plane, options: OpenOptions, call) in
            try await plane.open(options, call)
        }
        try await provide("web.close", "Closes a page.") { (plane, options: ViewOptions, call) in
            try plane.page(options.view, call).close()
            return JSON.object([:])
        }
        try await provide("web.views", "Lists the pages.") { (plane, _: NoOptions, call) in
            try plane.admit(call)
            return ViewList(views: plane.container.pages.values.map { plane.state($0) }.sorted { $0.view < $1.view })
        }
        try await provide("web.status", "Counts the pages and views, and reports the times of the launch.") {
            (plane, _: NoOptions, call) in
            try plane.admit(call)
            let pool = plane.container.pool
            return Status(
                open: pool.open, maximum: pool.maximum, warm: pool.warm, warmStarts: pool.warmStarts,
                coldStarts: pool.coldStarts, launch: plane.launch().map { LaunchState($0) })
        }
        try await provide("web.navigate", "Loads an address in a page.") { (plane, options: NavigateOptions, call) in
            let page = try plane.page(options.view, call)
            try await Self.load { () async throws(LoadProblem) in
                try await page.load(options.uri, untilFinished: options.wait == .finished)
            }
            return plane.state(page)
        }
        try await provide("web.reload", "Loads a page again.") { (plane, options: ReloadOptions, call) in
            let page = try plane.page(options.view, call)
            try await Self.load { () async throws(LoadProblem) in
                try await page.reload(
                    bypassingCache: options.bypassCache ?? false, untilFinished: options.wait == .finished)
            }
            return plane.state(page)
        }
        try await provideScripts()
        try await provideHistoryAndWindows()
        try await provideDocuments()
        try await provideHandlers()
        try await provideFilters()
        try await provideEngine()
        try await provideData()
        try await provideCookies()
        try await bridge.publish("web.ready", ["pid": .number(JSONNumber(Int64(getpid())))] as JSON)
    }

    private func open(_ options: OpenOptions, _ call: IncomingCall) async throws -> ViewState {
        try admit(call)
        if case .refuse(let rule) = container.settings.navigation.decide(options.uri) {
            throw Self.error(.denied(uri: options.uri, rule: rule))
        }
        guard let page = container.open() else {
            throw BridgeError(.busy, "as many pages are open as pool.max allows", isTransient: true)
        }
        do throws(LoadProblem) {
            try await page.load(options.uri, untilFinished: options.wait == .finished)
        } catch {
            page.close()
            throw Self.error(error)
        }
        return state(page)
    }

    func state(_ page: Page) -> ViewState {
        ViewState(
            view: page.number, uri: page.view.uri ?? "", title: page.view.title, session: page.session,
            isLoading: page.view.isLoading)
    }

    static func load(_ body: @MainActor () async throws(LoadProblem) -> Void) async throws {
        do throws(LoadProblem) {
            try await body()
        } catch {
            throw Self.error(error)
        }
    }

    private static func error(_ problem: LoadProblem) -> BridgeError {
        switch problem {
        case .denied(let uri, let rule):
            BridgeError(
                "navigation.denied", "\(problem)", data: ["uri": .string(uri), "rule": .string(rule)])
        case .failed(let uri, _):
            BridgeError("load.failed", "\(uri) cannot be loaded: \(problem)", data: ["uri": .string(uri)])
        case .package(let reason, let uri, _):
            BridgeError(
                reason == .missing ? "package.not_found" : "package.invalid", "\(uri) cannot be shown: \(problem)",
                data: ["uri": .string(uri)])
        case .cancelled: BridgeError(.callCancelled, "\(problem)")
        case .gone: BridgeError("web.crashed", "\(problem)")
        }
    }

    /// Provides one task, whose handler runs on the main thread. The events of what a call did, and of what happened
    /// before, are published before its callback is sent.
    func provide<Options: Decodable & Sendable, Result: Encodable & Sendable>(
        _ task: String, _ summary: String,
        _ body: @escaping @MainActor @Sendable (ControlPlane, Options, IncomingCall) async throws -> Result
    ) async throws(BridgeError) {
        try await bridge.register(task, description: TaskDescription(summary: summary)) {
            [weak self] (options: Options, call: IncomingCall) async throws -> Result in
            guard let self else { throw BridgeError(.providerClosed, "the container ends") }
            let outcome: Swift.Result<Result, any Error>
            do { outcome = .success(try await body(self, options, call)) } catch { outcome = .failure(error) }
            await events.flush()
            return try outcome.get()
        }
    }
}

struct NoOptions: Codable, Sendable {}

struct ViewList: Codable, Sendable {
    var views: [ViewState]
}

struct Status: Codable, Sendable {
    var open: Int
    var maximum: Int
    var warm: Int
    var warmStarts: Int
    var coldStarts: Int
    var launch: [LaunchState]
}

/// The result of a launch worker.
struct LaunchState: Codable, Sendable {
    var name: String
    var phase: String
    var durationUs: Int
    var state: String
    /// The reason of the failure; `nil` if it succeeded.
    var error: String?

    init(_ report: LaunchReport) {
        name = report.name
        phase = report.phase
        durationUs = Int(report.duration / .microseconds(1))
        state = report.failure == nil ? "done" : "failed"
        error = report.failure
    }
}
