public import PageBridge
public import WebKitViews
public import WebPackages
public import WebProfiles

/// The settings of a container.
public struct ContainerSettings: Sendable {
    /// The path of the daemon's socket.
    public var socket: String
    /// The rules for the navigation of frames.
    public var navigation: NavigationRules
    /// The origins that get the bridge; all of them are allowed origins.
    public var bridgeOrigins: Set<PageOrigin>
    /// The scripts of pages with the bridge.
    public var bridgeScripts = BridgeScripts()
    /// The scripts of the profile.
    public var scripts: [PageScript] = []
    /// The settings of windows.
    public var window = WebWindow.Settings()
    /// The zoom factor of documents.
    public var zoom = 1.0
    /// The settings of views.
    public var view = ViewSettings()
    /// The storage of data that outlives the process.
    public var storage = WebEngine.Storage.ephemeral
    /// The owner of the cookies.
    public var cookies = WebEngine.Cookies.own
    /// The rules for pages that crash, hang or stay blank.
    public var recovery = Recovery.Rules()
    /// The library of offline packages; `nil` for none.
    public var packages: PackageLibrary?
    /// What answers the dialogs of pages.
    public var panels = Profile.Panels.daemon
    /// The maximum time until a document arrives.
    public var loadTimeout = Duration.seconds(30)
    /// The address of the page that is shown in place of a page that cannot be loaded; `nil` for the error page.
    public var offlinePage: String?
    /// Whether copies of pages are kept, and shown if the pages cannot be loaded.
    public var keepsPages = false
    /// The origins that may use each permission.
    public var permissions: [PermissionKind: Set<PageOrigin>] = [:]
    /// The folder of downloads; `nil` if downloads are not allowed.
    public var downloads: String?
    /// The memory of each web process in MiB beyond which it is ended; if `nil`, the engine decides.
    public var memoryMegabytes: Int?
    /// The public parameters of pages.
    public var parameters = Parameters()
    /// The number of views that wait for a page.
    public var warmViews = 0
    /// The maximum number of open pages.
    public var maximumPages = 8
    /// The command that compiles content filters; see `ContentFilter.compile`.
    public var filterCompiler: [String] = []

    /// Creates the settings of a profile.
    ///
    /// - Parameters:
    ///   - profile: The profile.
    ///   - socket: The path of the daemon's socket.
    ///   - storage: The folder of data that outlives the process, if the profile is persistent; `nil` for none.
    public init(_ profile: Profile, socket: String, storage: String?) {
        self.socket = socket
        navigation = NavigationRules(
            allowed: Set(profile.allow + profile.bridge), external: profile.external, windows: profile.windows)
        navigation.deniedResponses = profile.deniedResponses
        bridgeOrigins = Set(profile.bridge)
        bridgeScripts = BridgeScripts(Set(profile.dialects), urlSchemes: profile.urlSchemes, exports: profile.exports)
        scripts = profile.scripts
        window.width = profile.size.width
        window.height = profile.size.height
        window.isKiosk = profile.isKiosk
        window.exitKey = profile.exitKey
        loadTimeout = profile.loadTimeout
        offlinePage = profile.offlinePage
        keepsPages = profile.keepsPages
        downloads = profile.downloadFolder
        memoryMegabytes = profile.memoryMegabytes
        permissions = Dictionary(
            uniqueKeysWithValues: PermissionKind.allCases.map { kind in
                (kind, Set(profile.permissions[kind.rawValue]))
            })
        zoom = Double(profile.zoom) / 100
        view.contentSecurityPolicy = profile.contentSecurityPolicy
        view.autoplay = ViewSettings.Autoplay(profile.autoplay)
        if profile.isPersistent, let storage { self.storage = .folder(storage) }
        cookies = WebEngine.Cookies(profile.cookies)
        recovery.reloads = profile.reloads
        recovery.within = profile.reloadsWithin
        recovery.unresponsive = profile.unresponsive
        recovery.isBlankChecked = profile.isBlankChecked
        panels = profile.panels
        warmViews = profile.warmViews
        maximumPages = profile.maximumViews
    }
}

extension ViewSettings.Autoplay {
    init(_ autoplay: Profile.Autoplay) {
        switch autoplay {
        case .refuse: self = .refuse
        case .silent: self = .silent
        case .allow: self = .allow
        }
    }
}

extension WebEngine.Cookies {
    init(_ cookies: Profile.Cookies) {
        switch cookies {
        case .own: self = .own
        case .sync: self = .copy
        case .none: self = .none
        }
    }
}
