import BridgeJSON
import BridgeMessage
import PluginInterface

// What a plugin's process answers, where it is not passed on as it is. Loop thread only.
extension CallbackMessage {
    /// The result's text, or the error.
    var pluginOutcome: Result<[UInt8], BridgeError> {
        guard isValid, let result else { return .failure(pluginError) }
        return .success(Array(result))
    }

    /// The error of a callback that has no result; where it is none that may be, one that says so.
    var pluginError: BridgeError {
        guard isValid, let text = error else {
            return BridgeError(.replyInvalid, "the callback must have exactly one of result and error")
        }
        guard text.count <= PluginProtocol.newsBytes else {
            return BridgeError(
                .replyInvalid, "the callback's error has more than \(PluginProtocol.newsBytes) bytes")
        }
        guard let json = try? JSON(parsing: text), var error = BridgeError(json: json) else {
            return BridgeError(.replyInvalid, "the callback's error has no code and message")
        }
        error.isUnforeseen = json["unforeseen"] == true
        return error
    }
}
