import BridgeMessage
import EventLoop
import TaskRuntime

/// A batch whose items are being handled, over several turns where it takes long.
struct OpenBatch {
    /// What has not been handled.
    var rest: BatchRest
    /// The answers so far, where it is a batch of JSON-RPC.
    var answers: RPCBatch?

    /// The rest as a line of input, for another daemon; nil where the answers are begun: these cannot be handed over.
    var line: [UInt8]? { answers == nil ? rest.line : nil }
}

extension Connection {
    /// Handles a batch as far as the user's share goes. What is left comes before all other input of the connection.
    func handleBatch(_ line: SplitLine, from session: Session) {
        let answers = runtime.openBatch(decoder, of: session)
        let outcome = decoder.decodeBatch { handle($0, from: session) }
        if case .stopped(let offset) = outcome, case .line(let bytes) = line, !isClosed, !closesWhenWritten {
            batch = OpenBatch(rest: BatchRest(bytes, from: offset), answers: answers)
            if answers != nil { runtime.suspendBatch(of: session) }
            yield()
        } else if let answers {
            runtime.close(answers, of: session)
        }
    }

    /// Goes on with the batch; true where it is done.
    func resumeBatch() -> Bool {
        guard var batch, let session else { return true }
        runtime.beginInput()
        if let answers = batch.answers { runtime.resume(answers, of: session) }
        let isDone = decoder.decode(&batch.rest) { handle($0, from: session) }
        runtime.endInput()
        guard !isClosed else { return false }
        self.batch = isDone ? nil : batch
        if let answers = batch.answers {
            if isDone { runtime.close(answers, of: session) } else { runtime.suspendBatch(of: session) }
        }
        if !isDone { yield() }
        return isDone && !isPaused
    }

    /// Handles one item; false where the rest has to wait.
    private func handle(_ item: DecodedItem, from session: Session) -> Bool {
        runtime.receive(item, from: session)
        return mayGoOn(session) && runtime.inputNanoseconds <= server.scheduler.share
    }
}
