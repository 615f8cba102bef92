// The declarations of all settings, in the order of the sample file.

extension Configuration {
    /// Every setting. What is not declared here is an unknown key.
    static let settings = daemonSettings + limitSettings + pluginSettings

    private typealias Declaration = Setting<Configuration>

    private static let daemonSettings: [Setting<Configuration>] = [
        Declaration(
            "socket", .path, \.socketPath, "Where the daemon listens.",
            defaultNote: """
                bridge.sock in $RUNTIME_DIRECTORY; without it in /run/trestle for root, else in \
                $XDG_RUNTIME_DIR/trestle or /tmp/trestle-UID.
                """),
        Declaration(
            "socket_mode", .fileMode, \.socketMode, "The socket's permission bits: who may open it may call."),
        Declaration(
            "state_dir", .path, \.stateDirectory, "Where the daemon and its plugins keep what outlives them.",
            defaultNote: """
                $STATE_DIRECTORY; without it /var/lib/trestle for root, else $XDG_STATE_HOME/trestle or \
                ~/.local/state/trestle.
                """),
        Declaration(
            "plugin_dir", .list(of: .path), \.pluginSearch.named,
            "Directories whose libraries (*.so) are loaded as plugins.",
            defaultNote: """
                Beside the daemon's executable: plugins, else ../lib/trestle/plugins, else the directory itself \
                (there only lib*Plugin.so).
                """),
        Declaration("log_level", .choice, \.logLevel, "The least severe messages that are logged."),
        Declaration(
            "log_format", .choice, \.logFormat,
            "The form of the log; auto is journal where standard error is the systemd journal, else text."),
        Declaration(
            "drain_timeout", .duration(in: .zero ... .seconds(3_600)), \.drainTimeout,
            "How long calls in flight may go on after SIGTERM."),
        Declaration(
            "call_timeout", .duration(in: .milliseconds(1) ... .seconds(86_400)), \.callTimeout,
            "The deadline of calls whose caller and task name none."),
        Declaration(
            "stop_timeout", .duration(in: .zero ... .seconds(3_600)), \.stopTimeout,
            "How long a plugin may take to stop."),
    ]

    // The ranges keep out what cannot work (a limit of 0) and what must be a slip of the hand.
    private static let limitSettings: [Setting<Configuration>] = [
        Declaration(
            "limits.message_bytes", .bytes(in: kibibyte...256 * mebibyte), \.limits.messageBytes,
            "The longest message and the largest result."),
        Declaration(
            "limits.calls_in_flight", .count("calls", in: 1...1_000_000), \.limits.callsInFlight,
            "A session's calls that have not ended; one more is answered busy."),
        Declaration(
            "limits.unread_bytes", .bytes(in: 4 * kibibyte...1_024 * mebibyte), \.limits.unreadBytes,
            "Replies that a session has not read; beyond them its requests wait."),
        Declaration(
            "limits.stalled", .duration(in: .milliseconds(100) ... .seconds(3_600)), \.limits.stalled,
            "How long a session that reads none of its replies is kept."),
        Declaration(
            "limits.events_queued", .count("events", in: 1...1_000_000), \.limits.eventsQueued,
            "Events waiting for one session; beyond them the oldest are dropped, and it is told."),
        Declaration(
            "limits.event_queue_bytes", .bytes(in: 4 * kibibyte...1_024 * mebibyte), \.limits.eventQueueBytes,
            "The same in bytes."),
        Declaration(
            "limits.sessions", .count("sessions", in: 1...1_000_000), \.limits.sessions,
            "Sessions at once, over all users."),
    ]

    private static let pluginSettings: [Setting<Configuration>] = [
        Declaration(
            "plugins.disabled", .list(of: .text), \.disabledPlugins,
            "Plugins that are not started though they are installed.")
    ]

    private static let kibibyte = 1_024
    private static let mebibyte = 1_024 * 1_024
}
