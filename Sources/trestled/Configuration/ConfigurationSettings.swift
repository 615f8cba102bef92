// The declarations of all settings, in the order of the sample file. Everything else about a setting is derived from
// its declaration: reading it, the sample, the reference, the schema, the effect of a reload. `make generate` writes
// the files.

extension Configuration {
    /// Every setting. A key that is not declared here is unknown.
    static let settings = daemonSettings + limitSettings + quotaSettings + dialectSettings + pluginSettings

    /// The descriptions of the tables, by name.
    static let tables: [String: String] = [
        "": "The daemon itself.",
        "limits": "The limits of each session, and of all sessions together.",
        "quotas": "The quotas of each session, user, plugin and task. 0 calls per second or in flight means no limit.",
        "dialects": "The forms of messages that clients may use in addition to the native one.",
        "plugins": "The plugins that the daemon starts.",
    ]

    typealias Declaration = Setting<Configuration>

    private static let daemonSettings: [Setting<Configuration>] = [
        Declaration(
            "socket", .path, \.socketPath, .restart, "The path of the socket on which the daemon listens.",
            defaultNote: """
                bridge.sock in $RUNTIME_DIRECTORY (systemd sets it); without this variable in /run/trestle for root, \
                and in $XDG_RUNTIME_DIR/trestle or /tmp/trestle-UID for other users.
                """),
        Declaration(
            "socket_mode", .fileMode, \.socketMode, .reload,
            """
            The socket's permission bits, in octal. Users who may open the socket may connect. A change applies to new \
            connections.
            """),
        Declaration(
            "state_dir", .path, \.stateDirectory, .restart,
            "The directory in which the daemon and its plugins store data that outlives them.",
            defaultNote: """
                $STATE_DIRECTORY (systemd sets it); without this variable /var/lib/trestle for root, and \
                $XDG_STATE_HOME/trestle or ~/.local/state/trestle for other users.
                """),
        Declaration(
            "policy_dir", .path, \.policyDirectory, .reload,
            "The directory of the files (*.toml) with the rules that allow and deny calls and events.",
            defaultNote: "policy.d beside the configuration file."),
        Declaration(
            "plugin_dir", .list(of: .path), \.pluginSearch.named, .restart,
            """
            One directory, or an array of directories. Their libraries (*.so) are loaded as plugins instead of the \
            plugins that came with the daemon.
            """,
            defaultNote: """
                the first of these directories that contains a plugin, relative to the daemon's executable: plugins, \
                ../lib/trestle/plugins (used for /usr/bin/trestled), the executable's own directory, of which only \
                files lib*Plugin.so are loaded.
                """,
            example: #""/usr/lib/trestle/plugins""#),
        Declaration(
            "local_plugin_dir", .list(of: .path), \.pluginSearch.local, .restart,
            """
            Directories of plugins that are loaded in addition to those of plugin_dir. trestle plugin install puts \
            plugins into the first of them, and creates it if it does not exist.
            """,
            defaultNote: """
                /usr/local/lib/trestle/local-plugins for /usr/bin/trestled, else ../lib/trestle/local-plugins \
                relative to the daemon's executable; for a user's own daemon, $XDG_DATA_HOME/trestle/plugins or \
                ~/.local/share/trestle/plugins comes first; none if plugin_dir is set.
                """,
            example: #""/usr/local/lib/trestle/local-plugins""#),
        Declaration(
            "plugin_watch", .truth, \.watchesPlugins, .restart,
            """
            Whether plugins are loaded, reloaded and unloaded while the daemon runs, when their files in the \
            directories of plugin_dir are added, changed and removed. The daemon immediately runs the code of a user \
            who may write to these directories.
            """),
        Declaration("log_level", .choice, \.logLevel, .reload, "The lowest severity that is logged."),
        Declaration(
            "log_format", .choice, \.logFormat, .restart,
            """
            The format of the log: text for people, json with one object per line, journal with entries of the \
            systemd journal, or auto, which is journal if standard error is the systemd journal, else text.
            """),
        Declaration(
            "protect_memory", .truth, \.protectsMemory, .restart,
            """
            Whether the daemon's memory, which contains clients' messages, is excluded from core files and crash \
            reports, and protected from debuggers of its own user. Set it to false to debug the daemon or a plugin \
            in it.
            """),
        Declaration(
            "drain_timeout", .duration(in: .zero ... .seconds(3_600)), \.drainTimeout, .reload,
            "The time limit of calls in flight after SIGTERM."),
        Declaration(
            "call_timeout", .duration(in: .milliseconds(1) ... .seconds(86_400)), \.callTimeout, .reload,
            """
            The time limit of calls for which neither the caller nor the task specifies one. A change applies to new \
            calls.
            """),
        Declaration(
            "stop_timeout", .duration(in: .zero ... .seconds(3_600)), \.stopTimeout, .reload,
            "The time limit of a plugin's stop."),
        Declaration(
            "plugin_timeout", .duration(in: .milliseconds(100) ... .seconds(3_600)), \.pluginTimeout, .restart,
            """
            The time in which a plugin's process must send its first message and must answer a ping, and the interval \
            of pings. A process that takes longer is killed and started again.
            """),
    ]

    // The ranges exclude values that cannot work (a limit of 0) and values that must be typing errors.
    private static let limitSettings: [Setting<Configuration>] = [
        Declaration(
            "limits.message_bytes", .bytes(in: kibibyte...256 * mebibyte), \.limits.messageBytes, .reload,
            "The maximum size of a message, and of the result of a call."),
        Declaration(
            "limits.calls_in_flight", .count("calls", in: 1...1_000_000), \.limits.callsInFlight, .reload,
            "The maximum number of a session's calls that have not ended. One more fails with busy."),
        Declaration(
            "limits.unread_bytes", .bytes(in: 4 * kibibyte...1_024 * mebibyte), \.limits.unreadBytes, .reload,
            "The maximum size of replies that a session has not read. Above it, the session's requests wait."),
        Declaration(
            "limits.stalled", .duration(in: .milliseconds(100) ... .seconds(3_600)), \.limits.stalled, .reload,
            "A session that has unread replies and reads none of them for this time is closed."),
        Declaration(
            "limits.events_queued", .count("events", in: 1...1_000_000), \.limits.eventsQueued, .reload,
            """
            The maximum number of events that wait for one session. Above it, the oldest are dropped, and an event \
            contains their number.
            """),
        Declaration(
            "limits.event_queue_bytes", .bytes(in: 4 * kibibyte...1_024 * mebibyte), \.limits.eventQueueBytes,
            .reload, "The maximum size of the events that wait for one session. Above it, the oldest are dropped too."),
        Declaration(
            "limits.stream_window", .bytes(in: 4 * kibibyte...16 * mebibyte), \.limits.streamWindow, .reload,
            "The maximum size of a stream's data that waits for its reader. A change applies to new streams."),
        Declaration(
            "limits.sessions", .count("sessions", in: 1...1_000_000), \.limits.sessions, .reload,
            """
            The maximum number of open sessions, of all users together. Each uses one descriptor. If the number is \
            reduced, open sessions stay open.
            """),
        Declaration(
            "limits.handover_bytes", .bytes(in: 64 * kibibyte...SessionTable.maximumBytes), \.limits.handoverBytes,
            .reload,
            """
            The maximum size of unread and unfinished messages of all sessions together at a restart that keeps \
            sessions. If it is not enough, each user has an equal share, and sessions beyond it are closed.
            """),
    ]

    private static let dialectSettings: [Setting<Configuration>] = [
        Declaration(
            "dialects.url_schemes", .list(of: .urlScheme), \.urlSchemes, .reload,
            """
            The schemes of URLs that are calls. The task and its options follow the scheme, as in jxaction://Echo?x=1.
            """)
    ]

    private static let pluginSettings: [Setting<Configuration>] = [
        Declaration(
            "plugins.disabled", .list(of: .text), \.disabledPlugins, .restart,
            "The names of installed plugins that are not started.")
    ]

    static let kibibyte = 1_024
    static let mebibyte = 1_024 * 1_024
}
