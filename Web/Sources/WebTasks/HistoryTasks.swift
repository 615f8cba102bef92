internal import BridgeClient
internal import BridgeJSON
internal import WebContainer
internal import WebKitViews
internal import WebProfiles

struct StepOptions: Codable, Sendable {
    var view: Int?
    var steps: Int?
    var wait: LoadWait?
}

struct WindowOptions: Codable, Sendable {
    var view: Int?
    var title: String?
    var size: String?
    var fullscreen: Bool?
    var zoom: Double?
    var visible: Bool?
}

struct TitleOptions: Codable, Sendable {
    var view: Int?
    var title: String
}

struct WindowState: Codable, Sendable {
    var view: Int
    var title: String
    var size: String
    var fullscreen: Bool
    var zoom: Double
    var visible: Bool
    var active: Bool
}

extension ControlPlane {
    func provideHistoryAndWindows() async throws(BridgeError) {
        try await provide("web.back", "Goes to an earlier document of a page.") {
            (plane, options: StepOptions, call) in
            try await plane.go(options, call, direction: -1)
        }
        try await provide("web.forward", "Goes to a later document of a page.") {
            (plane, options: StepOptions, call) in
            try await plane.go(options, call, direction: 1)
        }
        try await provide("web.stop", "Stops the load of a page.") { (plane, options: ViewOptions, call) in
            try plane.page(options.view, call).stop()
            return JSON.object([:])
        }
        try await provide("web.window.set", "Changes the window of a page.") {
            (plane, options: WindowOptions, call) in
            try plane.setWindow(options, call)
        }
        try await provide("web.window.get", "Returns the state of a page's window.") {
            (plane, options: ViewOptions, call) in
            plane.windowState(try plane.page(options.view, call))
        }
        try await provide("web.title.set", "Sets the title of a page's window.") {
            (plane, options: TitleOptions, call) in
            let page = try plane.page(options.view, call)
            page.windowTitle = Self.title(options.title)
            return JSON.object([:])
        }
    }

    private func go(_ options: StepOptions, _ call: IncomingCall, direction: Int) async throws -> ViewState {
        let page = try page(options.view, call)
        let steps = options.steps ?? 1
        guard (1...1_000).contains(steps) else {
            throw BridgeError(.optionsInvalid, "steps is a number from 1 to 1000", data: ["path": "$.steps"])
        }
        var exists = true
        try await Self.load { () async throws(LoadProblem) in
            exists = try await page.go(steps: direction * steps, untilFinished: options.wait == .finished)
        }
        guard exists else { throw BridgeError("history.none", "the page has no document there") }
        return state(page)
    }

    /// Returns a title that windows can show; `nil` for an empty text, which selects the page's own title.
    private static func title(_ text: String) -> String? { text.isEmpty ? nil : String(text.prefix(200)) }

    private func setWindow(_ options: WindowOptions, _ call: IncomingCall) throws -> WindowState {
        let page = try page(options.view, call)
        if let text = options.size {
            guard let size = Profile.Size(text) else {
                throw BridgeError(.optionsInvalid, "size is a text such as 1280x720", data: ["path": "$.size"])
            }
            page.window.size = (size.width, size.height)
        }
        if let zoom = options.zoom {
            guard (0.25...4).contains(zoom) else {
                throw BridgeError(.optionsInvalid, "zoom is a number from 0.25 to 4", data: ["path": "$.zoom"])
            }
            page.view.zoom = zoom
        }
        if let title = options.title { page.windowTitle = Self.title(title) }
        if let isFullscreen = options.fullscreen { page.window.setFullscreen(isFullscreen) }
        if let isVisible = options.visible { page.window.isVisible = isVisible }
        return windowState(page)
    }

    private func windowState(_ page: Page) -> WindowState {
        let (width, height) = page.window.size
        return WindowState(
            view: page.number, title: page.windowTitle ?? page.view.title, size: "\(width)x\(height)",
            fullscreen: page.window.isFullscreen, zoom: page.view.zoom, visible: page.window.isVisible,
            active: page.window.isActive)
    }
}
