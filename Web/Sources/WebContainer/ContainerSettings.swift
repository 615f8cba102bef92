public import PageBridge
public import WebKitViews
public import WebPackages
public import WebProfiles

/// What a container is made with.
public struct ContainerSettings: Sendable {
    /// Where the daemon listens.
    public var socket: String
    /// Where frames may go.
    public var navigation: NavigationRules
    /// Who gets the bridge; always among those allowed.
    public var lent: Set<PageOrigin>
    /// What pages with the bridge find.
    public var bridgeScripts = BridgeScripts()
    /// The scripts of the profile.
    public var scripts: [PageScript] = []
    /// How windows are shown.
    public var window = WebWindow.Settings()
    /// How much larger than usual documents are shown.
    public var zoom = 1.0
    /// How views are made.
    public var view = ViewSettings()
    /// What outlives the process.
    public var storage = WebEngine.Storage.ephemeral
    /// Whose the cookies are.
    public var cookies = WebEngine.Cookies.own
    /// What is done about pages that crash, hang or stay blank.
    public var recovery = Recovery.Rules()
    /// Where offline packages are; nil: there are none.
    public var packages: PackageLibrary?
    /// Who answers what pages ask.
    public var panels = Profile.Panels.daemon
    /// How long a document may take to come.
    public var loadTimeout = Duration.seconds(30)
    /// The address of the page that is shown in place of one that cannot be had; nil: the error page.
    public var offlinePage: String?
    /// Whether copies of pages are kept, and shown where their addresses cannot be had.
    public var keepsPages = false
    /// Who may use what.
    public var permissions: [PermissionKind: Set<PageOrigin>] = [:]
    /// Where downloads are kept; nil: there are none.
    public var downloads: String?
    /// The memory of each web process in MiB, beyond which it is ended; nil: the engine decides.
    public var memoryMegabytes: Int?
    /// The public parameters of pages.
    public var parameters = Parameters()
    /// Views that wait for a page.
    public var warmViews = 0
    /// Pages that may be open.
    public var maximumPages = 8
    /// The program that compiles content filters, as `ContentFilter.compile` has it.
    public var filterCompiler: [String] = []

    /// The settings that a profile says.
    ///
    /// - Parameters:
    ///   - profile: The profile.
    ///   - socket: Where the daemon listens.
    ///   - storage: The folder of what outlives the process, where the profile has that.
    public init(_ profile: Profile, socket: String, storage: String?) {
        self.socket = socket
        navigation = NavigationRules(
            allowed: Set(profile.allow + profile.bridge), external: profile.external, windows: profile.windows)
        navigation.deniedResponses = profile.deniedResponses
        lent = Set(profile.bridge)
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

extension WebEngine.Cookies {
    init(_ cookies: Profile.Cookies) {
        switch cookies {
        case .own: self = .own
        case .sync: self = .copy
        case .none: self = .none
        }
    }
}
