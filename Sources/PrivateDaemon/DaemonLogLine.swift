public import BridgeJSON

/// A line of a daemon's log.
public struct DaemonLogLine: Sendable, Equatable {
    /// `error`, `warning`, `notice`, `info` or `debug`.
    public var level: String
    /// The message.
    public var message: String
    /// The subjects of the message: `plugin`, `call`, `task` …
    public var fields: JSON

    /// The plugin that the line is about; `nil` if there is none.
    public var plugin: String? { fields["plugin"]?.stringValue }

    /// Parses a line that the daemon wrote with `--log-format json`. Any other line is plain output of a program and
    /// counts as an error.
    init(_ text: String) {
        let json = try? JSON(parsing: text)
        level = json?["level"]?.stringValue ?? "error"
        message = json?["message"]?.stringValue ?? text
        fields = json?["fields"] ?? [:]
    }
}
