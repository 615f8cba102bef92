import BridgeJSON
import BridgeMessage
import EventLoop
import TaskRuntime

/// Bytes in, line by line through the decoder to the runtime, as far as there is room for the answers and as the turns
/// of the others allow. What was read beyond that waits in `pendingInput`.
extension Connection {
    /// Handles what came, until the client has too much to read.
    func handle(_ bytes: UnsafeRawBufferPointer) {
        unownedSession?.withUnowned { session in
            let takenBytes = take(bytes, from: session)
            if takenBytes < bytes.count, !isClosed { pendingInput.append(bytes[takenBytes...]) }
            countInput(of: session)
        }
    }

    /// Handles lines as far as the user's share goes.
    ///
    /// - Returns: how many bytes were taken; the others have to wait.
    private func take(_ bytes: UnsafeRawBufferPointer, from session: Session) -> Int {
        runtime.beginInput()
        let share = scheduler.share
        var takenBytes = 0
        while let line = splitter.nextLine(of: bytes, from: &takenBytes) {
            if !handle(line, from: session) { break }
            if runtime.inputNanoseconds > share, takenBytes < bytes.count {
                yield()
                break
            }
        }
        runtime.endInput()
        if splitter.heldBytes > MemoryTrimmer.largeBytes { server.memory.noteFreed() }
        return takenBytes
    }

    func countInput(of session: Session) {
        let heldBytes = splitter.heldBytes + pendingInput.count + (lineAtWork?.line.heldBytes ?? 0)
        if heldBytes > MemoryTrimmer.largeBytes || session.holdsInput { countInput(heldBytes, of: session) }
    }

    /// Counts input that waits, where it is much. For a line that has not been checked there may no longer be room.
    private func countInput(_ heldBytes: Int, of session: Session) {
        guard !isClosed else { return }
        hold(heldBytes, of: session)
        guard runtime.isOverQuota(session) else { return }
        if let line = lineAtWork?.line, let discarded = line.discarded {
            lineAtWork = nil
            hold(splitter.heldBytes + pendingInput.count, of: session)
            refuse(discarded, runtime.lineRefusal(session), from: session)
        } else if splitter.heldBytes > MemoryTrimmer.largeBytes, !splitter.isDiscarding {
            lineRefusal = runtime.lineRefusal(session)
            refusesLine = true
            splitter.discardLine()
            hold(0, of: session)
        }
    }

    private func hold(_ heldBytes: Int, of session: Session) {
        session.noteHeldInput(heldBytes > MemoryTrimmer.largeBytes ? heldBytes : 0)
        runtime.countQueued(session)
    }

    /// The line that was discarded has ended, and is answered.
    private func refuse(_ line: SplitLine, _ error: BridgeError, from session: Session) {
        lineRefusal = nil
        refusesLine = false
        guard let item = decoder.item(of: line) else { return }
        guard case .problem(let problem) = item else { return runtime.receive(item, from: session) }
        var refusal = problem.pointee
        refusal.error = error
        withUnsafePointer(to: refusal) { runtime.receive(.problem($0), from: session) }
    }

    /// Handles a line; false where the rest has to wait.
    @inline(__always)
    private func handle(_ line: SplitLine, from session: Session) -> Bool {
        if refusesLine, let lineRefusal {
            refuse(line, lineRefusal, from: session)
        } else if case .line(let bytes) = line, bytes.count > OpenLine.longBytes {
            return handle(long: bytes, from: session)
        } else if let item = decoder.item(of: line) {
            runtime.receive(item, from: session)
        } else {
            handleBatch(line, from: session)
        }
        return mayContinue(session)
    }

    @inline(__always)
    func mayContinue(_ session: Session) -> Bool {
        guard !isClosed, !closesWhenWritten else { return false }
        // What a job of the session has not done yet comes before its further input, however much is unread.
        if session.waitsForJobs { yield() } else if hasTooMuchUnread(session) { pause() }
        return !isPaused
    }

    /// Whether the client has to read before any more is taken from it.
    @inline(__always)
    func hasTooMuchUnread(_ session: Session) -> Bool {
        let unreadBytes = session.output.count
        return unreadBytes > runtime.maximumUnreadBytes
            || unreadBytes > Session.uncountedBytes && isUserOverQuota(session)
    }

    private func isUserOverQuota(_ session: Session) -> Bool {
        runtime.countQueued(session)
        return runtime.isOverQuota(session)
    }

    /// Leaves the rest of this turn to the others. What has been read already waits for the next one.
    func yield() {
        guard !isPaused, !isClosed, !closesWhenWritten else { return }
        isPaused = true
        isYielding = true
        stream.suspendReading()
        scheduler.wait(self, of: user)
    }

    /// The others have had their turn.
    func takeTurn() {
        if let session, session.waitsForJobs {
            // It waits for the lane: in no queue, so that the loop may rest.
            isParked = true
            if !hasInputLeft { stream.awaitHangUp() }
            return
        }
        isYielding = false
        guard isPaused, !isHeld, !isClosed, !closesWhenWritten, let session else { return }
        if hasTooMuchUnread(session) {
            // Who has gone will not read.
            stream.stopReading()
            return server.watchStalled()
        }
        let hasInput = !pendingInput.isEmpty || lineAtWork != nil
        resumeInput()
        if !hasInput, !isPaused, !isClosed { stream.readNow() }
        writeOutput()
    }

    /// Whether something was read that is to be handled, also where the client goes.
    private var hasInputLeft: Bool {
        !pendingInput.isEmpty || lineAtWork != nil || hasInputEnded && splitter.heldBytes > 0
    }

    /// What the session's input waited for is done.
    func inputMayContinue() {
        guard isParked else { return }
        isParked = false
        scheduler.wait(self, of: user)
    }

    func pause() {
        guard !isPaused else { return }
        isPaused = true
        stream.stopReading()
        server.watchStalled()
    }

    func resume(_ session: Session) {
        guard !isYielding, !isHeld, session.output.count <= runtime.limits.unreadBytes / 2 else { return }
        resumeInput()
    }

    func resumeInput() {
        isPaused = false
        // A job may have begun while the client had too much to read.
        if let session, session.waitsForJobs { return yield() }
        handlePending()
        guard !isPaused, !isClosed, !closesWhenWritten else { return }
        if hasInputEnded {
            // Looks for a hang-up from here on.
            stream.stopReading()
            endInput()
        } else {
            stream.startReading()
        }
        if isFinishing { finish() }
    }

    /// Handles what was read and had to wait.
    private func handlePending() {
        if lineAtWork != nil, !resumeLine() { return }
        guard !pendingInput.isEmpty, let session else { return }
        var input = pendingInput.take()
        input.removeFirst(input.withBytes { take($0, from: session) })
        if !isClosed { pendingInput.putBack(input) }
        countInput(of: session)
    }

    func endInput() {
        hasInputEnded = true
        guard !isPaused, let session else { return }
        if let line = splitter.lastLine() {
            runtime.beginInput()
            _ = handle(line, from: session)
            runtime.endInput()
            countInput(of: session)
        }
        // A line at work goes on first; this is called again behind it.
        guard !isPaused else { return }
        runtime.endInput(of: session)
    }
}
