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
                "Where pages and their frames may go: exact origins, with their ports.",
                example: "[\"https://notes.example\", \"https://login.example\", \"trestle://notes\"]"),
            ProfileSetting(
                "bridge", .list(of: .origin), \.bridge, "Which of these origins get the bridge.",
                example: "[\"https://notes.example\"]"),
            ProfileSetting(
                "external", .choice, \.external,
                "What happens to links of http and https that lead elsewhere: refuse, open in the desktop's browser, "
                    + "or ask."),
            ProfileSetting(
                "windows", .choice, \.windows,
                "What happens to windows that pages open: refuse, or view, a page each."),
            ProfileSetting(
                "daemon", .choice, \.daemon, "Whether pages are shown without a daemon: optional, or required."),
            ProfileSetting(
                "csp", .optionalText, \.contentSecurityPolicy,
                "The content security policy of documents that bring none of their own.",
                example: "\"default-src 'self'; frame-src 'none'\""),
            ProfileSetting(
                "panels", .choice, \.panels,
                "Who answers alert, confirm and prompt: daemon, by the task Alert, or none."),
            ProfileSetting(
                "dialects", .list(of: .choice), \.dialects,
                "The dialects of other bridges that pages with the bridge can use besides WebBridge.",
                example: "[\"messageHandlers\", \"webViewJavascriptBridge\", \"capacitor\", \"cordova\", \"url\"]"),
            ProfileSetting(
                "url_schemes", .list(of: .text), \.urlSchemes,
                "The schemes of links that are calls, where url is among the dialects; also in dialects.url_schemes of "
                    + "the daemon."),
            ProfileSetting(
                "exports", .list(of: .pageExport), \.exports,
                "Objects and functions that pages with the bridge find, and the tasks that these call.",
                example:
                    "[{ name = \"app\", methods = { scan = \"scanner.scan\" } }, { name = \"echo\", task = \"Echo\" }]"
            ),
            ProfileSetting(
                "scripts", .list(of: .pageScript), \.scripts,
                "Scripts that run in documents, each from a file that no other user may change.",
                example: "[{ file = \"lobby.js\", at = \"end\", origins = [\"https://notes.example\"] }]"),
            ProfileSetting(
                "filters", .list(of: .pageFilter), \.filters,
                "What pages do not load (block), do not show (hide), or load by https.",
                example: "[{ action = \"block\", url = \"^https?://ads\\\\.example/\", types = [\"script\"] }]"),
            ProfileSetting(
                "packages.keys", .list(of: .packageKey), \.packageKeys,
                "The public keys whose signed offline packages are used.", example: "[]"),
            ProfileSetting("window.size", .size, \.size, "The width and the height of windows in pixels."),
            ProfileSetting(
                "window.kiosk", .truth, \.isKiosk, "Whether windows have the whole screen, and no decoration."),
            ProfileSetting(
                "window.exit_key", .optionalText, \.exitKey, "The keys that close a kiosk's window.",
                example: "\"<Control><Alt>q\""),
            ProfileSetting("window.zoom", .count(in: 25...400), \.zoom, "How large documents are shown, in percent."),
            ProfileSetting(
                "storage.persistent", .truth, \.isPersistent, "Whether cookies and storage outlive the process."),
            ProfileSetting(
                "storage.cookies", .choice, \.cookies,
                "Where pages keep cookies: own, in the container; sync, shared with the daemon's plugin Cookies; none."
            ),
            ProfileSetting(
                "storage.reload_on_login", .list(of: .origin), \.reloadsOnLogin,
                "The origins whose pages are loaded again when another user logs in at the daemon, or out.",
                example: "[\"https://notes.example\"]"),
            ProfileSetting(
                "recovery.reloads", .count(in: 0...100), \.reloads,
                "How often a page that crashed is loaded again before the error page is shown."),
            ProfileSetting("recovery.within", .duration, \.reloadsWithin, "The time in which these reloads count."),
            ProfileSetting(
                "recovery.unresponsive", .duration, \.unresponsive,
                "The time without a response after which a page counts as hung."),
            ProfileSetting(
                "recovery.blank_check", .truth, \.isBlankChecked,
                "Whether a page that shows nothing is loaded once more."),
            ProfileSetting(
                "navigation.timeout", .duration, \.loadTimeout, "The maximum time until a document arrives."),
            ProfileSetting(
                "navigation.responses", .list(of: .responsePattern), \.deniedResponses,
                "The responses that are neither shown nor downloaded: content types and statuses, 64 at most.",
                example: "[\"application/pdf\", \"video/*\", \"404\", \"5xx\"]"),
            ProfileSetting(
                "navigation.offline_page", .optionalText, \.offlinePage,
                "The page of an offline package that is shown in place of one whose server cannot be reached.",
                example: "\"trestle://notes/offline.html\""),
            ProfileSetting(
                "navigation.keep_pages", .truth, \.keepsPages,
                "Whether copies of pages are kept in memory, and shown where their servers cannot be reached."),
            ProfileSetting(
                "media.autoplay", .choice, \.autoplay,
                "Which media play before the user has touched their page: refuse, silent (those without sound), allow."),
            ProfileSetting(
                "downloads.folder", .optionalText, \.downloadFolder,
                "Where downloads are kept; without it there are none.",
                example: "\"/home/me/Downloads\""),
            ProfileSetting(
                "desktop.name", .optionalText, \.desktopName,
                "The name in lists of the desktop; without it the profile's.", example: "\"Notes\""),
            ProfileSetting("desktop.icon", .text, \.desktopIcon, "The name of the icon there."),
            ProfileSetting(
                "desktop.schemes", .list(of: .scheme), \.desktopSchemes,
                "The schemes whose addresses the desktop opens with the profile.", example: "[\"notes\"]"),
            ProfileSetting("pool.warm", .count(in: 0...8), \.warmViews, "How many views wait for a page."),
            ProfileSetting("pool.max", .count(in: 1...64), \.maximumViews, "How many pages may be open."),
            ProfileSetting(
                "pool.memory", .count(in: 0...65_536), \.memory,
                "The memory of each web process in MiB, beyond which it is ended; 0: the engine decides."),
            ProfileSetting(
                "tasks.pages", .list(of: .text), \.pageTasks,
                "The tasks web.… that pages may call about themselves."),
            ProfileSetting("tasks.events", .list(of: .text), \.events, "Which events web.… are published."),
        ]
        + Profile.permissionNames.map { name in
            ProfileSetting(
                "permissions.\(name)", .list(of: .origin), \.permissions[name],
                "The origins whose pages may use this: \(name).")
        }
}
