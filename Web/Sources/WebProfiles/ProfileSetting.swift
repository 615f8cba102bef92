internal import TOMLDocument

/// The single declaration of a profile's setting: its reading, messages, default, and text in the sample.
struct ProfileSetting: Sendable {
    /// The key with its table, such as `window.size`.
    let key: String
    /// The form of its values, for messages.
    let expected: String
    /// The purpose of the setting.
    let documentation: String
    /// The value in the sample; `nil` for the default.
    let example: String?
    /// Reads a value; returns false if it is not valid.
    let read: @Sendable (TOMLValue, inout Profile) -> Bool
    /// Returns the value as TOML; `nil` if there is none.
    let write: @Sendable (Profile) -> String?

    init<Value>(
        _ key: String, _ type: ProfileValue<Value>, _ path: any WritableKeyPath<Profile, Value> & Sendable,
        _ documentation: String, example: String? = nil
    ) {
        self.key = key
        self.expected = type.expected
        self.documentation = documentation
        self.example = example
        read = { value, profile in
            guard let converted = type.read(value) else { return false }
            profile[keyPath: path] = converted
            return true
        }
        write = { type.write($0[keyPath: path]) }
    }

    /// The table of the key; empty for a key at the top level.
    var table: String { key.firstIndex(of: ".").map { String(key[..<$0]) } ?? "" }
    /// The key within its table.
    var name: String { key.firstIndex(of: ".").map { String(key[key.index(after: $0)...]) } ?? key }

    /// All settings, grouped by table.
    static let all: [ProfileSetting] =
        [
            ProfileSetting(
                "start", .optionalText, \.start, "The address of the first page.", example: "\"https://notes.example/\""
            ),
            ProfileSetting(
                "allow", .list(of: .origin), \.allow,
                "The origins to which pages and their frames may navigate, with their ports.",
                example: "[\"https://notes.example\", \"https://login.example\", \"trestle://notes\"]"),
            ProfileSetting(
                "bridge", .list(of: .origin), \.bridge, "The allowed origins that get the bridge.",
                example: "[\"https://notes.example\"]"),
            ProfileSetting(
                "external", .choice, \.external,
                "The handling of links of http and https to other origins: refuse, open in the desktop's browser, or "
                    + "ask."),
            ProfileSetting(
                "windows", .choice, \.windows,
                "The handling of windows that pages open: refuse, or view, which shows each as a page."),
            ProfileSetting(
                "daemon", .choice, \.daemon, "Whether pages are shown without a daemon: optional, or required."),
            ProfileSetting(
                "csp", .optionalText, \.contentSecurityPolicy,
                "The content security policy of documents that have none.",
                example: "\"default-src 'self'; frame-src 'none'\""),
            ProfileSetting(
                "panels", .choice, \.panels,
                "The handler of alert, confirm and prompt: daemon (the task Alert), or none."),
            ProfileSetting(
                "dialects", .list(of: .choice), \.dialects,
                "The dialects of other bridges that pages with the bridge can use in addition to WebBridge.",
                example: "[\"messageHandlers\", \"webViewJavascriptBridge\", \"capacitor\", \"cordova\", \"url\"]"),
            ProfileSetting(
                "url_schemes", .list(of: .text), \.urlSchemes,
                "The schemes of links that are calls, if dialects contains url; also in dialects.url_schemes of "
                    + "the daemon."),
            ProfileSetting(
                "exports", .list(of: .pageExport), \.exports,
                "The objects and functions of pages with the bridge, and the tasks that they call.",
                example:
                    "[{ name = \"app\", methods = { scan = \"scanner.scan\" } }, { name = \"echo\", task = \"Echo\" }]"
            ),
            ProfileSetting(
                "scripts", .list(of: .pageScript), \.scripts,
                "Scripts that run in documents, each from a file that no other user may change.",
                example: "[{ file = \"lobby.js\", at = \"end\", origins = [\"https://notes.example\"] }]"),
            ProfileSetting(
                "filters", .list(of: .pageFilter), \.filters,
                "The rules for what pages do not load (block), do not show (hide), or load by https.",
                example: "[{ action = \"block\", url = \"^https?://ads\\\\.example/\", types = [\"script\"] }]"),
            ProfileSetting(
                "packages.keys", .list(of: .packageKey), \.packageKeys,
                "The public keys whose signed offline packages are used.", example: "[]"),
            ProfileSetting("window.size", .size, \.size, "The width and the height of windows in pixels."),
            ProfileSetting(
                "window.kiosk", .truth, \.isKiosk, "Whether windows use the whole screen, without decoration."),
            ProfileSetting(
                "window.exit_key", .optionalText, \.exitKey, "The keys that close a kiosk's window.",
                example: "\"<Control><Alt>q\""),
            ProfileSetting("window.zoom", .count(in: 25...400), \.zoom, "The size of documents, in percent."),
            ProfileSetting(
                "storage.persistent", .truth, \.isPersistent, "Whether cookies and storage outlive the process."),
            ProfileSetting(
                "storage.cookies", .choice, \.cookies,
                "The store of cookies: own, in the container; sync, shared with the daemon's plugin Cookies; none."
            ),
            ProfileSetting(
                "storage.reload_on_login", .list(of: .origin), \.reloadsOnLogin,
                "The origins whose pages are loaded again when another user logs in at the daemon, or out.",
                example: "[\"https://notes.example\"]"),
            ProfileSetting(
                "recovery.reloads", .count(in: 0...100), \.reloads,
                "The maximum number of times that a crashed page is loaded again before the error page is shown."),
            ProfileSetting("recovery.within", .duration, \.reloadsWithin, "The time in which these reloads count."),
            ProfileSetting(
                "recovery.unresponsive", .duration, \.unresponsive,
                "The time without a response after which a page counts as hung."),
            ProfileSetting(
                "recovery.blank_check", .truth, \.isBlankChecked,
                "Whether a page that shows nothing is loaded again, once."),
            ProfileSetting(
                "navigation.timeout", .duration, \.loadTimeout, "The time limit for the load of a document."),
            ProfileSetting(
                "navigation.responses", .list(of: .responsePattern), \.deniedResponses,
                "The responses that are neither shown nor downloaded: content types and statuses, at most 64.",
                example: "[\"application/pdf\", \"video/*\", \"404\", \"5xx\"]"),
            ProfileSetting(
                "navigation.offline_page", .optionalText, \.offlinePage,
                "The page of an offline package that is shown if the server of a page cannot be reached.",
                example: "\"trestle://notes/offline.html\""),
            ProfileSetting(
                "navigation.keep_pages", .truth, \.keepsPages,
                "Whether copies of pages are kept in memory, and shown if their servers cannot be reached."),
            ProfileSetting(
                "media.autoplay", .choice, \.autoplay,
                "The media that play before the user interacts with the page: refuse, silent (without sound), allow."),
            ProfileSetting(
                "downloads.folder", .optionalText, \.downloadFolder,
                "The folder of downloads. Without it, downloads are refused.",
                example: "\"/home/me/Downloads\""),
            ProfileSetting(
                "desktop.name", .optionalText, \.desktopName,
                "The name in the desktop's lists. Without it: the profile's name.", example: "\"Notes\""),
            ProfileSetting("desktop.icon", .text, \.desktopIcon, "The name of the icon in the desktop's lists."),
            ProfileSetting(
                "desktop.schemes", .list(of: .scheme), \.desktopSchemes,
                "The schemes whose addresses the desktop opens with the profile.", example: "[\"notes\"]"),
            ProfileSetting("pool.warm", .count(in: 0...8), \.warmViews, "The number of prepared views."),
            ProfileSetting("pool.max", .count(in: 1...64), \.maximumViews, "The maximum number of open pages."),
            ProfileSetting(
                "pool.memory", .count(in: 0...65_536), \.memory,
                "The maximum memory of each web process in MiB, above which it is ended. 0: the engine decides."),
            ProfileSetting(
                "tasks.pages", .list(of: .text), \.pageTasks,
                "The tasks web.… that pages may call. Those with the option view act only on the calling page."),
            ProfileSetting("tasks.events", .list(of: .text), \.events, "The events web.… that are published."),
        ]
        + Profile.permissionNames.map { name in
            ProfileSetting(
                "permissions.\(name)", .list(of: .origin), \.permissions[name],
                "The origins whose pages may use this: \(name).")
        }
}
