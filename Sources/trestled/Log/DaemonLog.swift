import Glibc
import Logging

/// The daemon's log, a swift-log handler. It assembles entries and passes them to the output, which all loggers share.
struct DaemonLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    /// The level of this logger only; `nil` for the level of all loggers.
    private var ownLevel: Logger.Level?
    private let threshold: LogThreshold
    private let output: LogOutput

    init(threshold: LogThreshold, output: LogOutput) {
        self.threshold = threshold
        self.output = output
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let more = event.metadata { fields.merge(more) { _, newer in newer } }
        var now = timespec()
        // Cannot fail: the clock exists and the address is valid.
        clock_gettime(CLOCK_REALTIME, &now)
        output.write(LogRecord(event.level, "\(event.message)", fields, time: now))
    }
}

extension DaemonLog {
    /// Creates the configured log, on standard error.
    init(_ configuration: Configuration, _ environment: ConfigurationEnvironment, threshold: LogThreshold) {
        let style = TextLine.style(
            isTerminal: isatty(STDERR_FILENO) == 1, noColour: environment.variables["NO_COLOR"])
        self.init(
            threshold: threshold,
            output: LogOutput(configuration.logFormat.resolved(environment), style: style))
    }
}
