// WebProfiles: origins, and profiles in TOML files, which are checked before they are used. A profile defines what a
// container shows, where its pages may navigate and which of them get the bridge.
public import OfflinePackages

/// The settings of a container; the values of a profile's file.
public struct Profile: Sendable, Hashable {
    /// The treatment of links to origins that pages may not visit.
    public enum External: String, Sendable, CaseIterable {
        /// They are refused.
        case refuse
        /// The desktop's browser opens http and https links that a user followed.
        case open
        /// Like `open`, after the user has agreed.
        case ask
    }

    /// The treatment of new windows that pages open.
    public enum Windows: String, Sendable, CaseIterable {
        /// They are refused.
        case refuse
        /// Each is a page of its own, under the same rules.
        case view
    }

    /// The media that play before the user has interacted with their page.
    public enum Autoplay: String, Sendable, CaseIterable {
        /// None.
        case refuse
        /// Media without sound.
        case silent
        /// All.
        case allow
    }

    /// Whether there must be a daemon.
    public enum Daemon: String, Sendable, CaseIterable {
        /// Pages are shown without a daemon, and get their bridge when there is one.
        case optional
        /// Without a daemon the program ends.
        case required
    }

    /// What answers `alert`, `confirm` and `prompt`.
    public enum Panels: String, Sendable, CaseIterable {
        /// The task Alert.
        case daemon
        /// Nothing: the page continues as if its user had declined.
        case none
    }

    /// The owner of the cookies of pages.
    public enum Cookies: String, Sendable, CaseIterable {
        /// The container.
        case own
        /// The daemon's plugin Cookies, synchronized in both directions.
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

        /// Creates a size.
        ///
        /// - Parameters:
        ///   - width: In pixels.
        ///   - height: In pixels.
        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// The origins that have each permission, by the permission's name.
    public struct Permissions: Sendable, Hashable {
        private var lists: [String: [PageOrigin]] = [:]

        /// Creates permissions for no origin.
        public init() {}

        /// The origins that have a permission.
        ///
        /// - Parameter name: The permission's name.
        public subscript(_ name: String) -> [PageOrigin] {
            get { lists[name] ?? [] }
            set { lists[name] = newValue.isEmpty ? nil : newValue }
        }
    }

    /// The address of the first page; `nil` for none.
    public var start: String?
    /// The origins to which frames may navigate.
    public var allow: [PageOrigin] = []
    /// The origins that get the bridge.
    public var bridge: [PageOrigin] = []
    /// The treatment of links to other origins.
    public var external = External.refuse
    /// The treatment of new windows.
    public var windows = Windows.refuse
    /// The media that play before the user has interacted with their page.
    public var autoplay = Autoplay.silent
    /// Whether there must be a daemon.
    public var daemon = Daemon.optional
    /// The maximum time until a document arrives.
    public var loadTimeout = Duration.seconds(30)
    /// The responses that are not shown as documents.
    public var deniedResponses: [ResponsePattern] = []
    /// The address of the page that is shown in place of a page that cannot be loaded; `nil` for the error page.
    public var offlinePage: String?
    /// Whether copies of pages are kept, and shown if the pages cannot be loaded.
    public var keepsPages = false
    /// The origins that have each permission, by the permission's name.
    public var permissions = Permissions()
    /// The folder of downloads; `nil` if downloads are not allowed.
    public var downloadFolder: String?
    /// The keys that close a kiosk's window, in GTK's notation; `nil` for none.
    public var exitKey: String?
    /// The memory of each web process in MiB beyond which it is ended; if 0, the engine decides.
    public var memory = 0
    /// The content security policy of documents that have none of their own; `nil` for none.
    public var contentSecurityPolicy: String?
    /// The dialects that pages with the bridge can use besides `WebBridge`.
    public var dialects: [PageDialect] = []
    /// The schemes of links that are treated as calls.
    public var urlSchemes = ["jxaction"]
    /// The objects and functions that are defined for pages with the bridge.
    public var exports: [PageExport] = []
    /// The scripts that run in documents.
    public var scripts: [PageScript] = []
    /// The filters: what pages do not load, do not show, or load by https.
    public var filters: [PageFilter] = []
    /// The name in lists of the desktop; `nil` for the profile's name.
    public var desktopName: String?
    /// The icon's name there.
    public var desktopIcon = "web-browser"
    /// The schemes whose addresses the desktop opens with the profile.
    public var desktopSchemes: [String] = []
    /// The keys of the offline packages that may be used.
    public var packageKeys: [PackageKey] = []
    /// What answers panels.
    public var panels = Panels.daemon
    /// The size of windows.
    public var size = Size(width: 1024, height: 768)
    /// Whether windows fill the screen and have no decoration.
    public var isKiosk = false
    /// The zoom of documents in percent.
    public var zoom = 100
    /// Whether cookies and storage outlive the process.
    public var isPersistent = false
    /// The owner of the cookies of pages.
    public var cookies = Cookies.own
    /// The origins whose pages are reloaded when another user logs in at the daemon.
    public var reloadsOnLogin: [PageOrigin] = []
    /// The maximum number of reloads after crashes within ``reloadsWithin``.
    public var reloads = 3
    /// The time in which reloads are counted.
    public var reloadsWithin = Duration.seconds(60)
    /// The time without an answer after which a page counts as hung.
    public var unresponsive = Duration.seconds(8)
    /// Whether blank pages are reloaded once.
    public var isBlankChecked = true
    /// The number of views that wait for a page.
    public var warmViews = 1
    /// The maximum number of open pages.
    public var maximumViews = 8
    /// The container's tasks that pages may call for themselves.
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

    /// The value of ``memory``; `nil` if the profile does not limit it.
    public var memoryMegabytes: Int? { memory > 0 ? memory : nil }

    /// Creates a profile with the default values.
    public init() {}
}
