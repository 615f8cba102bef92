import BridgeJSON
import BridgeMessage

// Answers to messages that began no call, and JSON-RPC batches, whose answers are one array.
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

    // MARK: JSON-RPC batches

    /// Begins a batch if it is a JSON-RPC batch, whose items are answered by one array.
    ///
    /// - Parameter isRPC: Whether its first item is JSON-RPC; `nil` if that item is not a message.
    /// - Returns: `nil` if it is not a JSON-RPC batch. A batch whose first item is no message is a JSON-RPC batch if
    ///   JSON-RPC is the session's dialect, or if the session has named and used none.
    func openBatch(isRPC: Bool?, of session: Session) -> RPCBatch? {
        guard isRPC ?? session.mayMeanRPC else { return nil }
        let batch = RPCBatch()
        session.openBatch = batch
        return batch
    }

    /// Suspends a batch whose next items arrive later.
    func suspendBatch(of session: Session) { session.openBatch = nil }

    /// Resumes a suspended batch, before its next items.
    func resume(_ batch: RPCBatch, of session: Session) { session.openBatch = batch }

    /// Closes a batch whose items have all been received.
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

    /// Counts the answers that were added to a batch.
    func count(_ batch: RPCBatch, of session: Session) {
        session.batchBytes += batch.answeredBytes - batch.countedBytes
        batch.countedBytes = batch.answeredBytes
        if session.batchBytes > Session.uncountedBytes { quotas.countQueued(session) }
    }

    /// Stops counting a batch whose answers move to the session's output.
    func forget(_ batch: RPCBatch, of session: Session) {
        session.batchBytes -= batch.countedBytes
        batch.countedBytes = 0
    }
}
