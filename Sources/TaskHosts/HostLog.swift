import CTaskPlugin
import Logging

/// A plugin's lines in the daemon's log. Any thread.
struct HostLog: Sendable {
    let logger: Logger

    init(_ logger: Logger, plugin: String) {
        var logger = logger
        logger[metadataKey: "plugin"] = .string(plugin)
        self.logger = logger
    }

    func write(level: UInt32, _ message: String, call: UInt64) {
        logger.log(
            level: Self.level(level), "\(message)", metadata: call == 0 ? nil : ["call": .stringConvertible(call)])
    }

    private static func level(_ level: UInt32) -> Logger.Level {
        switch level {
        case UInt32(TRESTLE_LOG_ERROR): .error
        case UInt32(TRESTLE_LOG_WARNING): .warning
        case UInt32(TRESTLE_LOG_NOTICE): .notice
        case UInt32(TRESTLE_LOG_INFO): .info
        default: .debug
        }
    }
}
