import BridgeJSON
import BridgeMessage

// The replies of clients that provide tasks.
extension Router {
    func receive(_ callback: CallbackMessage, from session: Session) {
        guard let call = forwardedCall(callback.callbackID, session) else {
            guard callback.isValid else {
                let error = BridgeError(
                    .messageInvalid, "a message has one of the fields task, result, error, progress, cancel and event")
                return answer(MessageProblem(error: error, callbackID: callback.callbackID), to: session)
            }
            return calls.dropReply("a client answered a call that it does not have", session.logMetadata)
        }
        // The result is a part of a line, so it contains no line break.
        if callback.isValid, let result = callback.result { return calls.end(call, result: result, isOneLine: true) }
        calls.end(call, error: Self.error(of: callback))
    }

    private static func error(of callback: CallbackMessage) -> BridgeError {
        guard callback.isValid else {
            return BridgeError(.replyInvalid, "the provider answered with neither or both of result and error")
        }
        guard let text = callback.error, text.count <= TaskDescription.usualOptionBytes else {
            return BridgeError(
                .replyInvalid,
                "the provider answered with an error of more than \(TaskDescription.usualOptionBytes) bytes")
        }
        guard let json = try? JSON(parsing: text), let error = BridgeError(json: json) else {
            return BridgeError(
                .replyInvalid, "the provider answered with an error that is not an object with code and message")
        }
        return error
    }

    func receive(_ progress: ProgressMessage, from session: Session) {
        guard let call = forwardedCall(progress.callbackID, session) else { return }
        calls.progress(call, progress.value)
    }

    /// Returns the call that was forwarded to the session with this id; `nil` if there is none.
    func forwardedCall(_ id: CallbackID, _ session: Session) -> Call? {
        guard let number = id.number else { return nil }
        return calls.call(number, of: session)
    }
}
