import Glibc
import Logging

/// The daemon's log, behind swift-log: puts entries together and hands them to the output, which all loggers share.
struct DaemonLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    private let output: LogOutput

    init(level: Logger.Level, output: LogOutput) {
        logLevel = level
        self.output = output
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let more = event.metadata { fields.merge(more) { _, newer in newer } }
        var now = timespec()
        // Cannot fail: the clock exists and the address is ours.
        clock_gettime(CLOCK_REALTIME, &now)
        output.write(LogRecord(event.level, "\(event.message)", fields, time: now))
    }
}

extension DaemonLog {
    /// The log as it is configured, on standard error.
    init(_ configuration: Configuration, _ environment: ConfigurationEnvironment) {
        let style = TextLine.style(
            isTerminal: isatty(STDERR_FILENO) == 1, noColour: environment.variables["NO_COLOR"])
        self.init(
            level: Logger.Level(rawValue: configuration.logLevel.rawValue) ?? .notice,
            output: LogOutput(configuration.logFormat.resolved(environment), style: style))
    }
}
