import BridgeJSON
import BridgeMessage
import CTaskPlugin
import PluginInterface

// What does not fit into a message.
extension IsolatedPluginHost {
    /// An error as far as a message can bear it: its data stand two levels deep in one.
    func sayable(_ error: BridgeError) -> BridgeError {
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
