import BridgeJSON
import BridgeMessage

// Answers to what began no call, and batches of JSON-RPC, whose answers are one array.
extension SessionOutput {
    /// Writes an answer to a message that began no call.
    func write(to session: Session, _ dialect: DialectID, _ write: (OutputBuffer) -> Void) {
        if let batch = session.openBatch, dialect == .jsonRPC {
            batch.add(write)
            count(batch, of: session)
        } else {
            write(session.output)
        }
        markDirty(session)
    }

    // MARK: Batches of JSON-RPC

    /// Begins a batch, where it is one of JSON-RPC's: its items are answered by one array.
    ///
    /// - Parameter isRPC: what its first item is; nil: no message.
    /// - Returns: nil where it is none. Where its first item is no message, it is one if the session has spoken nothing
    ///   else, or nothing yet.
    func openBatch(isRPC: Bool?, of session: Session) -> RPCBatch? {
        guard isRPC ?? session.mayMeanRPC else { return nil }
        let batch = RPCBatch()
        session.openBatch = batch
        return batch
    }

    /// Items follow later.
    func suspendBatch(of session: Session) { session.openBatch = nil }

    /// Items of a suspended batch follow.
    func resume(_ batch: RPCBatch, of session: Session) { session.openBatch = batch }

    /// All items have been received.
    func close(_ batch: RPCBatch, of session: Session) {
        session.openBatch = nil
        batch.isComplete = true
        finish(batch, of: session)
    }

    func finish(_ batch: RPCBatch, of session: Session) {
        guard batch.isComplete, batch.waitingCalls == 0, session.takesMessages else { return }
        forget(batch, of: session)
        batch.write(to: session.output)
        markDirty(session)
    }

    /// The answers of a batch have become more.
    func count(_ batch: RPCBatch, of session: Session) {
        session.batchBytes += batch.answeredBytes - batch.countedBytes
        batch.countedBytes = batch.answeredBytes
        if session.batchBytes > Session.uncountedBytes { quotas.countQueued(session) }
    }

    /// The batch's answers have gone to the session's output.
    func forget(_ batch: RPCBatch, of session: Session) {
        session.batchBytes -= batch.countedBytes
        batch.countedBytes = 0
    }
}
