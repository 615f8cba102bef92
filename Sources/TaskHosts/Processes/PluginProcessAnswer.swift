import BridgeJSON
import BridgeMessage
import PluginInterface

// The answers of a plugin's process that are not forwarded unchanged. Loop thread only.
extension CallbackMessage {
    /// The text of the result, or the error.
    var pluginOutcome: Result<[UInt8], BridgeError> {
        guard isValid, let result else { return .failure(pluginError) }
        return .success(Array(result))
    }

    /// The error of a callback without a result; if it is invalid, an error that states this.
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
