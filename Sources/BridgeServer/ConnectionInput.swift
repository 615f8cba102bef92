import BridgeJSON
import BridgeMessage
import EventLoop
import TaskRuntime

/// Passes the input line by line through the decoder to the runtime, as far as there is room for the answers and the
/// turns of other users allow. Input that was read beyond that waits in `pendingInput`.
extension Connection {
    /// Handles input until the client has too much unread output.
    func handle(_ bytes: UnsafeRawBufferPointer) {
        unownedSession?.withUnowned { session in
            let takenBytes = take(bytes, from: session)
            if takenBytes < bytes.count, !isClosed { pendingInput.append(bytes[takenBytes...]) }
            countInput(of: session)
        }
    }

    /// Handles lines until the user's share is spent.
    ///
    /// - Returns: The number of handled bytes; the others must wait.
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

    /// Counts waiting input if it is large. A line that has not been checked may then be discarded for lack of room.
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

    /// Answers a discarded line after it has ended.
    private func refuse(_ line: SplitLine, _ error: BridgeError, from session: Session) {
        lineRefusal = nil
        refusesLine = false
        guard let item = decoder.item(of: line) else { return }
        guard case .problem(let problem) = item else { return runtime.receive(item, from: session) }
        var refusal = problem.pointee
        refusal.error = error
        withUnsafePointer(to: refusal) { runtime.receive(.problem($0), from: session) }
    }

    /// Handles a line; returns false if the rest must wait.
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
        // The session's unfinished jobs come before its further input, regardless of unread output.
        if session.waitsForJobs { yield() } else if hasTooMuchUnread(session) { pause() }
        return !isPaused
    }

    /// Whether the client must read before more of its input is handled.
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

    /// Leaves the rest of this turn to other users. Input that was already read waits for the next turn.
    func yield() {
        guard !isPaused, !isClosed, !closesWhenWritten else { return }
        isPaused = true
        isYielding = true
        stream.suspendReading()
        scheduler.wait(self, of: user)
    }

    /// Continues after the other users' turns.
    func takeTurn() {
        if let session, session.waitsForJobs {
            // It waits for the lane and is in no queue, so that the loop may sleep.
            isParked = true
            if !hasInputLeft { stream.awaitHangUp() }
            return
        }
        isYielding = false
        guard isPaused, !isHeld, !isClosed, !closesWhenWritten, let session else { return }
        if hasTooMuchUnread(session) {
            // A client that has disconnected will not read.
            stream.stopReading()
            return server.watchStalled()
        }
        let hasInput = !pendingInput.isEmpty || lineAtWork != nil
        resumeInput()
        if !hasInput, !isPaused, !isClosed { stream.readNow() }
        writeOutput()
    }

    /// Whether there is read input that must be handled, also if the client disconnects.
    private var hasInputLeft: Bool {
        !pendingInput.isEmpty || lineAtWork != nil || hasInputEnded && splitter.heldBytes > 0
    }

    /// Continues after the work that the session's input waited for.
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
            // From here on only a hang-up is watched for.
            stream.stopReading()
            endInput()
        } else {
            stream.startReading()
        }
        if isFinishing { finish() }
    }

    /// Handles read input that had to wait.
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
        // A line at work continues first; this is called again after it.
        guard !isPaused else { return }
        runtime.endInput(of: session)
    }
}
