import Logging
import Synchronization

/// How severe a message must be to be logged, for all loggers at once. Any thread.
final class LogThreshold: Sendable {
    /// The level's place among all of them.
    private let place: Atomic<Int>

    init(_ level: Logger.Level) { place = Atomic(Self.place(of: level)) }

    var level: Logger.Level {
        get { Logger.Level.allCases[place.load(ordering: .relaxed)] }
        set { place.store(Self.place(of: newValue), ordering: .relaxed) }
    }

    private static func place(of level: Logger.Level) -> Int {
        Logger.Level.allCases.firstIndex(of: level) ?? 0
    }
}

extension Configuration.LogLevel {
    /// The logger's own name for it.
    var level: Logger.Level {
        switch self {
        case .error: .error
        case .warning: .warning
        case .notice: .notice
        case .info: .info
        case .debug: .debug
        }
    }
}
