import Glibc
import Logging

/// A log entry before it is formatted.
struct LogRecord {
    var level: Logger.Level
    var message: String
    /// The subjects, by name: `plugin`, `call`, `task`, `session`, `uid`.
    var fields: [(name: String, value: Logger.MetadataValue)]
    /// The time since 1970, UTC.
    var time: timespec

    init(_ level: Logger.Level, _ message: String, _ fields: Logger.Metadata, time: timespec) {
        self.level = level
        self.message = message
        self.fields = fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        self.time = time
    }

    /// The priority of its level.
    var priority: Int { level.priority }
}

extension Logger.Level {
    /// The priority of syslog, which the journal also uses.
    var priority: Int {
        switch self {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}
