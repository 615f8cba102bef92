import Logging
import Synchronization

/// The minimum severity of logged messages, for all loggers. Any thread.
final class LogThreshold: Sendable {
    /// The level's index in `allCases`.
    private let index: Atomic<Int>

    init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

    var level: Logger.Level {
        get { Logger.Level.allCases[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int {
        Logger.Level.allCases.firstIndex(of: level) ?? 0
    }
}

extension Configuration.LogLevel {
    /// The corresponding level of swift-log.
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
