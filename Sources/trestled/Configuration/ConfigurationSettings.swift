// The declarations of all settings, in the order of the sample file. Everything else about a setting is derived from
// its declaration: reading it, the sample, the reference, the schema, the effect of a reload. `make generate` writes
// the files.

extension Configuration {
    /// Every setting. A key that is not declared here is unknown.
    static let settings = daemonSettings + limitSettings + quotaSettings + dialectSettings + pluginSettings

    /// The descriptions of the tables, by name.
    static let tables: [String: String] = [
        "": "The daemon itself.",
        "limits": "What one session, and all of them together, may take.",
        "quotas": """
        What each session, user, plugin and task may take, so that none of them takes what others need. Of calls per \
        second, and of calls in flight where no setting limits them, 0 means any number.
        """,
        "dialects": "The forms of messages that clients may use beside the native one.",
        "plugins": "Which plugins are started.",
    ]

    typealias Declaration = Setting<Configuration>

    private static let daemonSettings: [Setting<Configuration>] = [
        Declaration(
            "socket", .path, \.socketPath, .restart, "Where the daemon listens.",
            defaultNote: """
                bridge.sock in $RUNTIME_DIRECTORY (systemd sets it); without that in /run/trestle for root, else in \
                $XDG_RUNTIME_DIR/trestle or /tmp/trestle-UID.
                """),
        Declaration(
            "socket_mode", .fileMode, \.socketMode, .reload,
            """
            The socket's permission bits, in octal: who may open it may call. A change holds for those who connect \
            from then on.
            """),
        Declaration(
            "state_dir", .path, \.stateDirectory, .restart,
            "Where the daemon and its plugins keep what outlives them.",
            defaultNote: """
                $STATE_DIRECTORY (systemd sets it); without that /var/lib/trestle for root, else \
                $XDG_STATE_HOME/trestle or ~/.local/state/trestle.
                """),
        Declaration(
            "policy_dir", .path, \.policyDirectory, .reload,
            "Directory of the rules, files *.toml, that allow and deny.",
            defaultNote: "policy.d beside the configuration file."),
        Declaration(
            "plugin_dir", .list(of: .path), \.pluginSearch.named, .restart,
            """
            Directories whose libraries (*.so) are loaded as plugins, in place of those that came with the daemon: one, \
            or an array of them.
            """,
            defaultNote: """
                what lies beside the daemon's executable: the directory plugins, else ../lib/trestle/plugins (this is \
                it for /usr/bin/trestled), else the executable's own directory, where only lib*Plugin.so counts.
                """,
            example: #""/usr/lib/trestle/plugins""#),
        Declaration(
            "local_plugin_dir", .list(of: .path), \.pluginSearch.local, .restart,
            """
            Directories of plugins that are loaded beside those of plugin_dir. trestle plugin install puts plugins into \
            the first of them, which need not exist before.
            """,
            defaultNote: """
                /usr/local/lib/trestle/local-plugins for /usr/bin/trestled, else ../lib/trestle/local-plugins beside the \
                daemon's executable; of a user's own daemon also, and first, $XDG_DATA_HOME/trestle/plugins or \
                ~/.local/share/trestle/plugins; none where plugin_dir is set.
                """,
            example: #""/usr/local/lib/trestle/local-plugins""#),
        Declaration(
            "plugin_watch", .truth, \.watchesPlugins, .restart,
            """
            Whether plugins are loaded, reloaded and unloaded while the daemon serves, as their files come, change \
            and go. A user who may write there has code run by the daemon, immediately.
            """),
        Declaration("log_level", .choice, \.logLevel, .reload, "The least severe messages that are logged."),
        Declaration(
            "log_format", .choice, \.logFormat, .restart,
            """
            The form of the log: text for people, json with an object in each line, journal with entries of the \
            systemd journal, or auto, which is journal where standard error is the systemd journal, else text.
            """),
        Declaration(
            "protect_memory", .truth, \.protectsMemory, .restart,
            """
            Whether the daemon's memory, which holds what clients send, stays out of core files and crash reports, \
            and away from debuggers of its own user. Set it to false to debug the daemon or a plugin in it.
            """),
        Declaration(
            "drain_timeout", .duration(in: .zero ... .seconds(3_600)), \.drainTimeout, .reload,
            "How long calls in flight may continue after SIGTERM."),
        Declaration(
            "call_timeout", .duration(in: .milliseconds(1) ... .seconds(86_400)), \.callTimeout, .reload,
            "The deadline of calls whose caller and task name none. A change holds for calls that begin then."),
        Declaration(
            "stop_timeout", .duration(in: .zero ... .seconds(3_600)), \.stopTimeout, .reload,
            "How long a plugin may take to stop."),
        Declaration(
            "plugin_timeout", .duration(in: .milliseconds(100) ... .seconds(3_600)), \.pluginTimeout, .restart,
            """
            How long a plugin's process may take to say what it is, and to answer a ping; it is pinged as often. One \
            that takes longer is killed, and started again.
            """),
    ]

    // The ranges exclude values that cannot work (a limit of 0) and values that must be typing errors.
    private static let limitSettings: [Setting<Configuration>] = [
        Declaration(
            "limits.message_bytes", .bytes(in: kibibyte...256 * mebibyte), \.limits.messageBytes, .reload,
            "The longest message, and the largest result of a call."),
        Declaration(
            "limits.calls_in_flight", .count("calls", in: 1...1_000_000), \.limits.callsInFlight, .reload,
            "A session's calls that have not ended; one more is answered busy."),
        Declaration(
            "limits.unread_bytes", .bytes(in: 4 * kibibyte...1_024 * mebibyte), \.limits.unreadBytes, .reload,
            "Replies that a session has not read yet. Beyond them its requests wait."),
        Declaration(
            "limits.stalled", .duration(in: .milliseconds(100) ... .seconds(3_600)), \.limits.stalled, .reload,
            "A session whose replies wait and that reads none of them for so long is closed."),
        Declaration(
            "limits.events_queued", .count("events", in: 1...1_000_000), \.limits.eventsQueued, .reload,
            """
            Events waiting for one session, in number. Beyond it the oldest are dropped, and an event says how \
            many.
            """),
        Declaration(
            "limits.event_queue_bytes", .bytes(in: 4 * kibibyte...1_024 * mebibyte), \.limits.eventQueueBytes,
            .reload, "Events waiting for one session, in bytes. Beyond it the oldest are dropped, too."),
        Declaration(
            "limits.stream_window", .bytes(in: 4 * kibibyte...16 * mebibyte), \.limits.streamWindow, .reload,
            "Bytes of a stream that wait for its reader. Streams that exist keep theirs."),
        Declaration(
            "limits.sessions", .count("sessions", in: 1...1_000_000), \.limits.sessions, .reload,
            """
            Sessions at a time, of all users. Each takes a descriptor. Where a change makes them fewer, those that are \
            open stay.
            """),
        Declaration(
            "limits.handover_bytes", .bytes(in: 64 * kibibyte...SessionTable.maximumBytes), \.limits.handoverBytes,
            .reload,
            """
            What all sessions together may have unread and unfinished at a restart for which they are kept. Each user \
            has an equal share where that is not enough; sessions that have no room are closed.
            """),
    ]

    private static let dialectSettings: [Setting<Configuration>] = [
        Declaration(
            "dialects.url_schemes", .list(of: .urlScheme), \.urlSchemes, .reload,
            "The schemes of URLs that are taken for calls: jxaction:// and what follows names a task and its options.")
    ]

    private static let pluginSettings: [Setting<Configuration>] = [
        Declaration(
            "plugins.disabled", .list(of: .text), \.disabledPlugins, .restart,
            "Plugins that are not started though they are installed, by name.")
    ]

    static let kibibyte = 1_024
    static let mebibyte = 1_024 * 1_024
}
