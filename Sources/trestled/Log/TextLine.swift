import BridgeJSON
import Glibc
import Logging

/// Formats a log entry as a line for people.
struct TextLine {
    /// The destination of lines, which determines their prefix.
    enum Style {
        /// The time of day, the level in colour.
        case terminal
        /// The time of day, the level.
        case plainTerminal
        /// The date as well.
        case file
        /// The priority in angle brackets, as the journal parses it from received lines.
        case priority
    }

    let style: Style

    /// Returns the style for standard error. Terminals get colours, unless the user has disabled them (NO_COLOR).
    static func style(isTerminal: Bool, noColour: String?) -> Style {
        guard isTerminal else { return .file }
        return noColour?.isEmpty == false ? .plainTerminal : .terminal
    }

    /// Returns the line, with its line feed.
    func text(_ record: LogRecord) -> String {
        var line = prefix(record) + VisibleText.escaped(record.message)
        for (name, value) in record.fields { line += " \(name)=\(VisibleText.escaped("\(value)"))" }
        return line + "\n"
    }

    private func prefix(_ record: LogRecord) -> String {
        let level = Self.padded(record.level)
        return switch style {
        case .terminal: "\(Self.clock(record, "%H:%M:%S")) \(Self.colour(record.level))\(level)\u{1B}[0m "
        case .plainTerminal: "\(Self.clock(record, "%H:%M:%S")) \(level) "
        case .file: "\(Self.clock(record, "%Y-%m-%dT%H:%M:%S%z")) \(level) "
        case .priority: "<\(record.priority)>"
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

    private static func clock(_ record: LogRecord, _ format: String) -> String {
        var seconds = record.time.tv_sec
        var parts = tm()
        localtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress, strftime(start, buffer.count, format, &parts) > 0 else { return "" }
            return String(cString: start)
        }
    }
}
