// The daemon's configuration: flags beat the file, the file beats the environment and the defaults.
//
// Each setting is a property here, with its default, and one declaration in ConfigurationSettings.swift.
import TOMLDocument
import TaskRuntime

/// Everything that can be set. A plain value; read once at launch and again at a reload.
struct Configuration: Sendable, Equatable {
    /// The file that was read; nil where there was none.
    var file: String?
    /// Where the daemon listens.
    var socketPath: String
    /// The socket's permission bits. Who may open it may call.
    var socketMode: UInt32 = 0o600
    /// Where the daemon and its plugins keep what outlives them.
    var stateDirectory: String
    /// Where rules are, about who may do what.
    var policyDirectory: String
    /// The rules of that directory.
    var policy: PolicyRules
    /// Where plugins are looked for.
    var pluginSearch: PluginSearch
    /// Whether files that come, change and go there are loaded, reloaded and unloaded.
    var watchesPlugins = false
    /// The least severe messages that are logged.
    var logLevel = LogLevel.notice
    /// The form of the log.
    var logFormat = LogFormat.auto
    /// Whether the daemon's memory is kept from core files and debuggers.
    var protectsMemory = true
    /// How long calls in flight may continue after SIGTERM.
    var drainTimeout = Duration.seconds(5)
    /// The deadline of calls whose caller and task name none.
    var callTimeout = Duration.seconds(60)
    /// How long a plugin may take to stop.
    var stopTimeout = Duration.seconds(5)
    /// How long a plugin's process may take to answer what it can answer immediately.
    var pluginTimeout = Duration.seconds(10)
    /// The bounds on what one client, and all of them, may take.
    var limits = Limits()
    /// What sessions, users, plugins and tasks may take.
    var quotas = QuotaLimits()
    /// The schemes of URLs that are calls.
    var urlSchemes = ["jxaction"]
    /// The plugins that are not started though they are installed.
    var disabledPlugins: [String] = []
    /// The `[plugins.NAME]` tables.
    var pluginSections: [PluginSection] = []
    /// Where the settings that were given come from, by key.
    var origins: [String: SettingOrigin] = [:]

    /// The bounds on what one client, and all of them, may take.
    struct Limits: Sendable, Equatable {
        /// The longest message, in bytes: of a line read, and of one result.
        var messageBytes = 1 << 20
        /// A session's calls that have not ended; one more is answered `busy`.
        var callsInFlight = 1_024
        /// Replies that a session has not read yet, in bytes; beyond them its requests are not read.
        var unreadBytes = 4 << 20
        /// How long a session that reads none of its replies is kept.
        var stalled = Duration.seconds(30)
        /// Events waiting for one session, in number; the oldest are dropped, and the session is notified.
        var eventsQueued = 1_024
        /// Events waiting for one session, in bytes.
        var eventQueueBytes = 1 << 20
        /// Bytes of a stream that wait for its reader.
        var streamWindow = 256 << 10
        /// Sessions at a time, of all users.
        var sessions = 10_000
        /// What goes to the next process at a restart, all sessions together, in bytes.
        var handoverBytes = SessionTable.maximumBytes
    }

    /// How severe a message must be to be logged; each includes those before it. The names are swift-log's.
    enum LogLevel: String, CaseIterable, Sendable {
        case error, warning, notice, info, debug
    }

    /// What holds where nothing is set.
    ///
    /// - Parameters:
    ///   - environment: Who runs the daemon, with which variables.
    ///   - executable: The daemon's own file: plugins are looked for beside it.
    init(environment: ConfigurationEnvironment, executable: String) {
        socketPath = environment.defaultSocketPath
        stateDirectory = environment.defaultStateDirectory
        policyDirectory = environment.defaultPolicyDirectory
        policy = PolicyRules()
        pluginSearch = .beside(executable: executable, ownLocal: environment.ownPluginDirectory)
    }

    /// These settings, with those of a document over them, and those of flags over both.
    func overlaid(
        by document: TOMLDocument?, _ overrides: ConfigurationOverrides, workingDirectory: String
    ) -> ConfigurationReading {
        var reader = SettingsReader(Self.settings, sectionsTable: "plugins", defaults: self)
        if let document { reader.read(document) }
        reader.read(overrides, workingDirectory: workingDirectory)
        var configuration = reader.target
        configuration.origins = reader.origins
        if let document {
            configuration.file = document.file
            configuration.pluginSections = reader.sections.map { PluginSection($0, file: document.file) }
        }
        return ConfigurationReading(configuration: configuration, problems: reader.problems, faulty: reader.faulty)
    }

    /// A problem with a setting that shows only when it is used (a socket that cannot be bound), with the location of
    /// the setting, where it was given.
    func problem(with key: String, index: Int? = nil, _ reason: String) -> ConfigurationProblem {
        let name = index.map { "\(key)[\($0)]" } ?? key
        guard let origin = origins[key] else {
            return ConfigurationProblem(source: "the default configuration", key: name, reason: reason)
        }
        guard origin.isFile else { return ConfigurationProblem(source: origin.source, reason: reason) }
        let items = origin.value.array ?? []
        let value = index.flatMap { items.indices.contains($0) ? items[$0] : nil } ?? origin.value
        return ConfigurationProblem(source: origin.source, position: value.position, key: name, reason: reason)
    }
}
