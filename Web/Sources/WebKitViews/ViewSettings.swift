internal import CWebKitGTK
internal import MainLoop

/// The settings of a view.
public struct ViewSettings: Sendable, Hashable {
    /// The content security policy of documents that have none of their own; `nil` for none.
    public var contentSecurityPolicy: String?
    /// Whether the inspector may be opened and the console is written to standard output.
    public var isForDevelopers = false
    /// The media that play before the user has interacted with their page.
    public enum Autoplay: Sendable, Hashable {
        case refuse, silent, allow
    }

    /// The media that play before the user has interacted with their page.
    public var autoplay = Autoplay.silent
    /// The text that is appended to the engine's own user agent; `nil` for none.
    public var userAgentSuffix: String?

    /// Creates the settings of a kiosk: no inspector, the engine's user agent.
    public init() {}

    @MainActor
    var made: GObjectBox {
        guard let settings = webkit_settings_new() else { preconditionFailure("WebKit makes settings") }
        webkit_settings_set_enable_developer_extras(settings, isForDevelopers ? 1 : 0)
        webkit_settings_set_enable_write_console_messages_to_stdout(settings, isForDevelopers ? 1 : 0)
        webkit_settings_set_allow_universal_access_from_file_urls(settings, 0)
        webkit_settings_set_allow_file_access_from_file_urls(settings, 0)
        webkit_settings_set_javascript_can_open_windows_automatically(settings, 0)
        if let userAgentSuffix {
            let own = webkit_settings_get_user_agent(settings).map { String(cString: $0) } ?? ""
            webkit_settings_set_user_agent(settings, "\(own) \(userAgentSuffix)")
        }
        return GObjectBox(owning: UnsafeMutableRawPointer(settings))
    }

    @MainActor
    var policies: GObjectBox {
        let policy =
            switch autoplay {
            case .refuse: WEBKIT_AUTOPLAY_DENY
            case .silent: WEBKIT_AUTOPLAY_ALLOW_WITHOUT_SOUND
            case .allow: WEBKIT_AUTOPLAY_ALLOW
            }
        guard let policies = trestle_website_policies(policy) else { preconditionFailure("WebKit makes policies") }
        return GObjectBox(owning: UnsafeMutableRawPointer(policies))
    }
}
