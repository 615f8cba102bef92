import BridgeMessage
import EventLoop
import TaskRuntime

/// A line that is being handled, over several turns if it takes long.
struct LineAtWork {
    /// The part of the line that has not been handled.
    let line: OpenLine
    /// The answers so far, if it is a JSON-RPC batch; `nil` otherwise.
    var answers: RPCBatch?

    /// The rest as a line of input for another daemon; `nil` if answers have begun, because these cannot be handed
    /// over.
    var rest: [UInt8]? { answers == nil ? line.rest : nil }
}

// Long lines and batches are handled until the user's share is spent. The rest precedes all other input of the
// connection.
extension Connection {
    /// Begins a long line; returns false if the input after it must wait.
    func handle(long bytes: UnsafeRawBufferPointer, from session: Session) -> Bool {
        lineAtWork = LineAtWork(line: decoder.open(bytes, of: &splitter))
        return continueLine(of: session)
    }

    /// Handles a batch that is not long, item by item.
    func handleBatch(_ line: SplitLine, from session: Session) {
        let answers = runtime.openBatch(isRPC: decoder.isRPCBatch, of: session)
        let outcome = decoder.decodeBatch { item in
            runtime.receive(item, from: session)
            return mayContinue(session) && hasShare
        }
        if case .stopped(let offset) = outcome, case .line(let bytes) = line, !isClosed, !closesWhenWritten {
            lineAtWork = LineAtWork(line: decoder.open(restOf: bytes, from: offset), answers: answers)
            suspendLine(of: session)
        } else if let answers {
            runtime.close(answers, of: session)
        }
    }

    /// Continues the line; returns true if it is done and further input may follow.
    func resumeLine() -> Bool {
        guard let lineAtWork, let session else { return true }
        runtime.beginInput()
        if let answers = lineAtWork.answers { runtime.resume(answers, of: session) }
        let isDone = continueLine(of: session)
        runtime.endInput()
        if isDone, lineAtWork.line.heldBytes > MemoryTrimmer.largeBytes { server.memory.noteFreed() }
        countInput(of: session)
        return isDone && !isPaused
    }

    private var hasShare: Bool { runtime.inputNanoseconds <= scheduler.share }

    /// Takes steps until the line is done, the share is spent, or the connection may not continue.
    private func continueLine(of session: Session) -> Bool {
        runtime.noteInputTime()
        while let line = lineAtWork?.line {
            switch decoder.advance(line) {
            case .step: runtime.noteInputTime()
            case .batch: openBatch(line, of: session)
            case .item(let item): runtime.receive(item, from: session)
            case .finished: break
            }
            guard !isClosed, !closesWhenWritten else { return false }
            if line.isFinished { return endLine(of: session) }
            if !mayContinue(session) || !hasShare {
                suspendLine(of: session)
                return false
            }
        }
        return false
    }

    private func openBatch(_ line: OpenLine, of session: Session) {
        guard lineAtWork?.answers == nil else { return }
        lineAtWork?.answers = runtime.openBatch(isRPC: line.isRPCBatch, of: session)
    }

    private func endLine(of session: Session) -> Bool {
        let answers = lineAtWork?.answers
        lineAtWork = nil
        if let answers { runtime.close(answers, of: session) }
        return mayContinue(session)
    }

    private func suspendLine(of session: Session) {
        if lineAtWork?.answers != nil { runtime.suspendBatch(of: session) }
        yield()
    }
}
