public import BridgeJSON

/// A line of a daemon's log.
public struct DaemonLogLine: Sendable, Equatable {
    /// `error`, `warning`, `notice`, `info` or `debug`.
    public var level: String
    /// What it says.
    public var message: String
    /// What it is about: `plugin`, `call`, `task` …
    public var fields: JSON

    /// The plugin that it is about.
    public var plugin: String? { fields["plugin"]?.stringValue }

    /// A line as the daemon writes it with `--log-format json`; one that is no entry of the log is what a program wrote
    /// that could not say more, and an error.
    init(_ text: String) {
        let json = try? JSON(parsing: text)
        level = json?["level"]?.stringValue ?? "error"
        message = json?["message"]?.stringValue ?? text
        fields = json?["fields"] ?? [:]
    }
}
