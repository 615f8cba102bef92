// WebProfiles: what a container shows, where its pages may go and who of them gets the bridge: origins, and profiles in
// TOML files, checked before they are used.
public import OfflinePackages

/// What a container is to do; the values of a profile's file.
public struct Profile: Sendable, Hashable {
    /// What happens to links that lead to where pages may not go.
    public enum External: String, Sendable, CaseIterable {
        /// Nothing.
        case refuse
        /// The desktop's browser opens those of http and https that a user followed.
        case open
        /// As `open`, after the user has agreed.
        case ask
    }

    /// What happens to new windows that pages open.
    public enum Windows: String, Sendable, CaseIterable {
        /// They do not open.
        case refuse
        /// Each is a page of its own, under the same rules.
        case view
    }

    /// Whether there must be a daemon.
    public enum Daemon: String, Sendable, CaseIterable {
        /// Pages are shown without, and get their bridge when there is one.
        case optional
        /// Without one the program ends.
        case required
    }

    /// Who answers `alert`, `confirm` and `prompt`.
    public enum Panels: String, Sendable, CaseIterable {
        /// The task Alert.
        case daemon
        /// Nobody: the page goes on as if its user had declined.
        case none
    }

    /// Whose the cookies of pages are.
    public enum Cookies: String, Sendable, CaseIterable {
        /// The container's own.
        case own
        /// Those of the daemon's plugin Cookies, both ways.
        case sync
        /// There are none.
        case none
    }

    /// A width and a height in pixels.
    public struct Size: Sendable, Hashable {
        /// In pixels.
        public var width: Int
        /// In pixels.
        public var height: Int

        /// A size.
        ///
        /// - Parameters:
        ///   - width: In pixels.
        ///   - height: In pixels.
        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// The origins that may use something, by the permission's name.
    public struct Permissions: Sendable, Hashable {
        private var lists: [String: [PageOrigin]] = [:]

        /// Nobody may use anything.
        public init() {}

        /// The origins that have a permission.
        ///
        /// - Parameter name: The permission's name.
        public subscript(_ name: String) -> [PageOrigin] {
            get { lists[name] ?? [] }
            set { lists[name] = newValue.isEmpty ? nil : newValue }
        }
    }

    /// The address of the first page.
    public var start: String?
    /// Where frames may go.
    public var allow: [PageOrigin] = []
    /// Who gets the bridge.
    public var bridge: [PageOrigin] = []
    /// What happens to links that lead elsewhere.
    public var external = External.refuse
    /// What happens to new windows.
    public var windows = Windows.refuse
    /// Whether there must be a daemon.
    public var daemon = Daemon.optional
    /// How long a document may take to come.
    public var loadTimeout = Duration.seconds(30)
    /// The responses that are not shown as documents.
    public var deniedResponses: [ResponsePattern] = []
    /// The address of the page that is shown in place of one that cannot be had; nil: the error page.
    public var offlinePage: String?
    /// Whether copies of pages are kept, and shown where their addresses cannot be had.
    public var keepsPages = false
    /// The origins that may use something, by the permission's name.
    public var permissions = Permissions()
    /// Where downloads are kept; nil: there are none.
    public var downloadFolder: String?
    /// The keys that close a kiosk's window, as GTK writes them.
    public var exitKey: String?
    /// The memory of each web process in MiB, beyond which it is ended; 0: the engine decides.
    public var memory = 0
    /// The content security policy of documents that bring none.
    public var contentSecurityPolicy: String?
    /// What pages with the bridge find besides `WebBridge`.
    public var dialects: [PageDialect] = []
    /// The schemes of links that are calls.
    public var urlSchemes = ["jxaction"]
    /// The objects and functions that pages with the bridge find.
    public var exports: [PageExport] = []
    /// Scripts that run in documents.
    public var scripts: [PageScript] = []
    /// What pages do not load, do not show, or load by https.
    public var filters: [PageFilter] = []
    /// The name in lists of the desktop; nil: the profile's.
    public var desktopName: String?
    /// The icon's name there.
    public var desktopIcon = "web-browser"
    /// The schemes whose addresses the desktop opens with the profile.
    public var desktopSchemes: [String] = []
    /// Whose offline packages are used.
    public var packageKeys: [PackageKey] = []
    /// Who answers panels.
    public var panels = Panels.daemon
    /// The size of windows.
    public var size = Size(width: 1024, height: 768)
    /// Whether windows have the whole screen and no decoration.
    public var isKiosk = false
    /// How much larger than usual documents are shown, in percent.
    public var zoom = 100
    /// Whether cookies and storage outlive the process.
    public var isPersistent = false
    /// Whose the cookies of pages are.
    public var cookies = Cookies.own
    /// The origins whose pages are loaded again when another user logs in at the daemon.
    public var reloadsOnLogin: [PageOrigin] = []
    /// Reloads after crashes within ``reloadsWithin``.
    public var reloads = 3
    /// The time in which reloads count.
    public var reloadsWithin = Duration.seconds(60)
    /// The time without an answer after which a page counts as hung.
    public var unresponsive = Duration.seconds(8)
    /// Whether pages that show nothing are loaded once more.
    public var isBlankChecked = true
    /// Views that wait for a page.
    public var warmViews = 1
    /// Pages that are open at once.
    public var maximumViews = 8
    /// The tasks that pages may call about themselves.
    public var pageTasks: [String] = ["web.close"]
    /// The patterns of the events that are published.
    public var events: [String] = [
        "web.crashed", "web.unresponsive", "web.responsive", "web.blank", "web.closed", "web.navigation.*",
    ]

    /// The permissions that a profile may give.
    public static let permissionNames = [
        "geolocation", "notifications", "camera", "microphone", "display", "clipboard", "pointer_lock", "device_info",
        "media_keys", "storage_access", "files", "print",
    ]

    /// ``memory``, where the profile bounds it.
    public var memoryMegabytes: Int? { memory > 0 ? memory : nil }

    /// The defaults.
    public init() {}
}
