import BridgeJSON
import CTaskPlugin
import Logging
import TaskRuntime
import PluginInterface

/// Writes a plugin's lines to the daemon's log. Any thread.
struct HostLog: Sendable {
    let logger: Logger

    init(_ logger: Logger, plugin: String) {
        var logger = logger
        logger[metadataKey: "plugin"] = .string(plugin)
        self.logger = logger
    }

    /// Returns whether lines of this level are written.
    func writes(level: UInt32) -> Bool { logger.logLevel <= Self.level(level) }

    /// Writes a line, cut to the maximum length of a line.
    func write(level: UInt32, _ message: String, _ metadata: Logger.Metadata? = nil) {
        logger.log(level: Self.level(level), "\(message.cut(toBytes: PluginProtocol.logLineBytes))", metadata: metadata)
    }

    /// Writes a line as ``write(level:_:_:)`` does, if the user of its call may write one more. Loop thread only.
    ///
    /// - Parameter call: The call that the line is about; `nil` if there is none.
    func write(level: UInt32, _ message: @autoclosure () -> String, of call: CallHandle?, in runtime: TaskRuntime) {
        guard writes(level: level) else { return }
        guard let call else { return write(level: level, message()) }
        switch runtime.admitLogLine(of: call) {
        case .leaveOut: return
        case .writeAfter(let lost):
            write(level: UInt32(TRESTLE_LOG_WARNING), runtime.lostLogLines(lost, of: call))
        case .write, nil: break
        }
        write(level: level, message(), runtime.logMetadata(of: call))
    }

    /// Returns the level with a name that a process sent; information for an unknown name.
    static func level(named name: String) -> UInt32 {
        switch name {
        case "error": UInt32(TRESTLE_LOG_ERROR)
        case "warning": UInt32(TRESTLE_LOG_WARNING)
        case "notice": UInt32(TRESTLE_LOG_NOTICE)
        case "debug": UInt32(TRESTLE_LOG_DEBUG)
        default: UInt32(TRESTLE_LOG_INFO)
        }
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
