import BridgeJSON
import BridgeMessage
import CTaskPlugin
import PluginInterface

// Errors that do not fit in a message.
extension IsolatedPluginHost {
    /// Returns the error, without its data and with a shorter message if a message cannot contain it. The data are two
    /// levels deep in a message.
    func sendable(_ error: BridgeError) -> BridgeError {
        var error = error
        let bytes = error.data?.bytes ?? []
        let isDeep = bytes.withUnsafeBytes { !$0.isEmpty && check.fault(in: $0, levelsAround: 2) != nil }
        guard isDeep || bytes.count + error.message.utf8.count > messageBytes else { return error }
        error.data = nil
        error.message = error.message.cut(toBytes: PluginProtocol.logLineBytes)
        logged(UInt32(TRESTLE_LOG_WARNING), "an error's data are too long or nested too deep, and are left out", 0)
        return error
    }
}
