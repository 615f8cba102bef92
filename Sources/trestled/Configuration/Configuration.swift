// The daemon's configuration: flags override the file, and the file overrides the environment and the defaults.
//
// Each setting is a property here, with its default, and one declaration in ConfigurationSettings.swift.
import TOMLDocument
import TaskRuntime

/// All settings. A plain value; read at launch and at each reload.
struct Configuration: Sendable, Equatable {
    /// The file that was read; `nil` if there was none.
    var file: String?
    /// The path of the daemon's socket.
    var socketPath: String
    /// The socket's permission bits. A user that may open the socket may make calls.
    var socketMode: UInt32 = 0o600
    /// The directory of the persistent state of the daemon and its plugins.
    var stateDirectory: String
    /// The directory of the policy rules.
    var policyDirectory: String
    /// The rules of that directory.
    var policy: PolicyRules
    /// The directories that are searched for plugins.
    var pluginSearch: PluginSearch
    /// Whether plugins are loaded, reloaded and unloaded when their files appear, change or disappear.
    var watchesPlugins = false
    /// The minimum severity of logged messages.
    var logLevel = LogLevel.notice
    /// The form of the log.
    var logFormat = LogFormat.auto
    /// Whether the daemon's memory is excluded from core files and protected from debuggers.
    var protectsMemory = true
    /// The time that calls in flight may continue after SIGTERM.
    var drainTimeout = Duration.seconds(5)
    /// The deadline of calls without one from their caller or task.
    var callTimeout = Duration.seconds(60)
    /// The time that a plugin may take to stop.
    var stopTimeout = Duration.seconds(5)
    /// The time that a plugin process may take to answer requests that need no work, such as a ping.
    var pluginTimeout = Duration.seconds(10)
    /// The limits for one client and for all clients together.
    var limits = Limits()
    /// The quotas of sessions, users, plugins and tasks.
    var quotas = QuotaLimits()
    /// The URL schemes that represent calls.
    var urlSchemes = ["jxaction"]
    /// The installed plugins that are not started.
    var disabledPlugins: [String] = []
    /// The `[plugins.NAME]` tables.
    var pluginSections: [PluginSection] = []
    /// The origins of the settings that were set, by key.
    var origins: [String: SettingOrigin] = [:]

    /// The limits for one client and for all clients together.
    struct Limits: Sendable, Equatable {
        /// The maximum size of a message in bytes: of a received line and of a result.
        var messageBytes = 1 << 20
        /// The maximum number of a session's open calls; a further call is answered `busy`.
        var callsInFlight = 1_024
        /// The maximum size of unread replies of a session in bytes. Above it, the daemon does not read the session's
        /// requests.
        var unreadBytes = 4 << 20
        /// The time after which a session that reads none of its replies is closed.
        var stalled = Duration.seconds(30)
        /// The maximum number of queued events of a session; the oldest are dropped, and the session is notified.
        var eventsQueued = 1_024
        /// The maximum size of queued events of a session in bytes.
        var eventQueueBytes = 1 << 20
        /// The maximum number of bytes of a stream that wait for its reader.
        var streamWindow = 256 << 10
        /// The maximum number of sessions of all users together.
        var sessions = 10_000
        /// The maximum size in bytes of the data of all sessions that are handed over at a restart.
        var handoverBytes = SessionTable.maximumBytes
    }

    /// The severity from which messages are logged; each level includes those before it. The names are those of
    /// swift-log.
    enum LogLevel: String, CaseIterable, Sendable {
        case error, warning, notice, info, debug
    }

    /// Creates the default configuration.
    ///
    /// - Parameters:
    ///   - environment: The user that runs the daemon, and its environment variables.
    ///   - executable: The daemon's own file; plugins are searched beside it.
    init(environment: ConfigurationEnvironment, executable: String) {
        socketPath = environment.defaultSocketPath
        stateDirectory = environment.defaultStateDirectory
        policyDirectory = environment.defaultPolicyDirectory
        policy = PolicyRules()
        pluginSearch = .beside(executable: executable, ownLocal: environment.ownPluginDirectory)
    }

    /// Returns these settings overridden by those of a document, and both overridden by flags.
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

    /// Creates a problem with a setting that appears only when the setting is used (such as a socket that cannot be
    /// bound). It contains the location of the setting, if it was set.
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
