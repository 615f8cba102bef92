import Glibc
import Logging

/// An entry of the log, before it takes a form.
struct LogRecord {
    var level: Logger.Level
    var message: String
    /// What it is about, by name: `plugin`, `call`, `task`, `session`, `uid`.
    var fields: [(name: String, value: Logger.MetadataValue)]
    /// Since 1970, UTC.
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
    /// The priorities of syslog, which the journal knows too.
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
