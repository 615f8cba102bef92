import Glibc
import Logging

/// The daemon's log, on standard error: for people on a terminal, with priorities for the journal, with the date where
/// it goes to a file.
struct DaemonLog: LogHandler {
    /// Where the lines go, and so what stands in front of them.
    enum Target {
        case terminal, journal, file

        /// What standard error is connected to. systemd says so itself where it is the journal.
        static var current: Target {
            if isatty(STDERR_FILENO) == 1 { return .terminal }
            return getenv("JOURNAL_STREAM") != nil ? .journal : .file
        }
    }

    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    private let target: Target

    init(level: Logger.Level, target: Target = .current) {
        logLevel = level
        self.target = target
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let more = event.metadata { fields.merge(more) { _, newer in newer } }
        let line = Self.line(event.level, "\(event.message)", fields, target: target, now: time(nil))
        // One write for a line, so that lines of several threads do not mix. Where nobody reads, nothing is to be done.
        _ = line.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// A line with its end. Line breaks within it are shown, so that nobody can make up lines of his own.
    static func line(
        _ level: Logger.Level, _ message: String, _ fields: Logger.Metadata, target: Target, now: time_t
    ) -> String {
        var line = prefix(level, target, now) + escaped(message)
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(escaped("\(value)"))" }
        line += "\n"
        line.makeContiguousUTF8()
        return line
    }

    private static func prefix(_ level: Logger.Level, _ target: Target, _ now: time_t) -> String {
        switch target {
        case .journal: "<\(priority(level))>"
        case .terminal: "\(timestamp(now, "%H:%M:%S")) \(colour(level))\(padded(level))\u{1B}[0m "
        case .file: "\(timestamp(now, "%Y-%m-%dT%H:%M:%S%z")) \(padded(level)) "
        }
    }

    /// The priorities of syslog, which the journal reads off the start of a line.
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    private static func colour(_ level: Logger.Level) -> String {
        switch level {
        case .critical, .error: "\u{1B}[31m"
        case .warning: "\u{1B}[33m"
        case .notice: "\u{1B}[32m"
        case .info, .debug, .trace: "\u{1B}[2m"
        }
    }

    private static func padded(_ level: Logger.Level) -> String {
        level.rawValue + String(repeating: " ", count: max(0, 8 - level.rawValue.count))
    }

    private static func timestamp(_ now: time_t, _ format: String) -> String {
        var now = now
        var parts = tm()
        localtime_r(&now, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress, strftime(start, buffer.count, format, &parts) > 0 else { return "" }
            return String(cString: start)
        }
    }

    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return text }
        return text.unicodeScalars.reduce(into: "") { output, scalar in
            if scalar.value < 0x20 || scalar.value == 0x7F {
                output += scalar.escaped(asASCII: true)
            } else {
                output.unicodeScalars.append(scalar)
            }
        }
    }
}
