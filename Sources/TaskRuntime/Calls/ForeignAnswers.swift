import BridgeJSON
import BridgeMessage

// The answers to calls in dialects other than the native one.
extension CallEngine {
    /// Returns the address of a call's answer. The task is the one that the caller named.
    func address(of call: Call) -> CallbackAddress {
        CallbackAddress(
            call.record.pointee.dialect, id: call.record.pointee.id.text,
            task: (call.interception?.original ?? call.task)?.nameBytes ?? UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Writes the answer to a call that was received in another dialect.
    func writeForeign(_ call: Call, to session: Session, _ write: (CallbackAddress, OutputBuffer) -> Void) {
        let address = address(of: call)
        guard let batch = call.record.pointee.extras?.batch else {
            write(address, session.output)
            return output.markDirty(session)
        }
        batch.waitingCalls -= 1
        if batch.answeredBytes < quotas.limits.unreadBytes {
            batch.add { write(address, $0) }
        } else {
            let error = BridgeError(
                .resultTooLarge,
                "the results of the batch are longer than the \(quotas.limits.unreadBytes) bytes that may wait")
            batch.add { MessageEncoder.callback(to: address, error: error, $0) }
        }
        output.count(batch, of: session)
        output.finish(batch, of: session)
    }
}
