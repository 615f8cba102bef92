import BridgeJSON
import BridgeMessage
import EventLoop
import TaskRuntime

/// Bytes in, line by line through the decoder to the runtime, as far as there is room for the answers and as the turns of
/// the others allow. What was read beyond that waits in `pendingInput`.
extension Connection {
    /// How long one connection's calls may keep the loop in one turn, beyond the one that is being worked on: most of
    /// 64 KiB of calls, which is what one read brings, that are answered at once; few that take their time.
    private static let turnNanoseconds: UInt64 = 1_000_000

    private var turnNanoseconds: UInt64 {
        server.turns.isShared ? FairTurns.shareNanoseconds : Self.turnNanoseconds
    }

    /// Handles what came, until the client has too much to read.
    func handle(_ bytes: UnsafeRawBufferPointer) {
        lentSession?.lend { handle(bytes, from: $0) }
    }

    private func handle(_ bytes: UnsafeRawBufferPointer, from session: Session) {
        runtime.beginInput()
        let turnNanoseconds = turnNanoseconds
        var takenBytes = 0
        while let line = splitter.nextLine(of: bytes, from: &takenBytes) {
            if !handle(line, from: session) { break }
            if runtime.inputNanoseconds > turnNanoseconds, takenBytes < bytes.count {
                yield()
                break
            }
        }
        runtime.endInput()
        if splitter.heldBytes > MessageMemory.largeBytes { server.memory.noteLarge() }
        if takenBytes < bytes.count, !isClosed { pendingInput.append(contentsOf: bytes[takenBytes...]) }
        let heldBytes = splitter.heldBytes + pendingInput.count
        if heldBytes > MessageMemory.largeBytes || session.heldInputBytes > 0 { countInput(heldBytes, of: session) }
    }

    /// Counts input that waits, where it is much. For a line whose end has not come there may be no room any more.
    private func countInput(_ heldBytes: Int, of session: Session) {
        guard !isClosed else { return }
        session.heldInputBytes = heldBytes > MessageMemory.largeBytes ? heldBytes : 0
        runtime.countQueued(session)
        guard splitter.heldBytes > MessageMemory.largeBytes, !splitter.isDiscarding, runtime.isOverQuota(session) else {
            return
        }
        lineRefusal = runtime.lineRefusal(session)
        refusesLine = true
        splitter.discardLine()
        session.heldInputBytes = 0
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
        } else if let item = decoder.item(of: line) {
            runtime.receive(item, from: session)
        } else {
            handleBatch(line, from: session)
        }
        return mayGoOn(session)
    }

    private func handleBatch(_ line: SplitLine, from session: Session) {
        if runtime.receiveRPCBatch(decoder, from: session) { return }
        let outcome = decoder.decodeBatch { item in
            runtime.receive(item, from: session)
            return mayGoOn(session)
        }
        if case .stopped(let offset) = outcome, case .line(let bytes) = line {
            // The rest of the batch becomes a batch of its own, ahead of everything else that waits.
            pendingInput.append(UInt8(ascii: "["))
            pendingInput.append(contentsOf: bytes[offset...])
            pendingInput.append(UInt8(ascii: "\n"))
        }
    }

    @inline(__always)
    private func mayGoOn(_ session: Session) -> Bool {
        guard !isClosed, !closesWhenWritten else { return false }
        if hasTooMuchUnread(session) { pause() }
        return !isPaused
    }

    /// Whether the client has to read before any more is taken from it.
    @inline(__always)
    func hasTooMuchUnread(_ session: Session) -> Bool {
        let unreadBytes = session.output.count
        return unreadBytes > runtime.limits.unreadBytes
            || unreadBytes > TaskRuntime.uncountedBytes && isUserOverQuota(session)
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
        server.resumeInNextTurn(self)
    }

    /// The others have had their turn.
    func takeTurn() {
        isYielding = false
        guard isPaused, !isHeld, !isClosed, !closesWhenWritten, let session else { return }
        if hasTooMuchUnread(session) { return server.watchStalled() }
        let hasInput = !pendingInput.isEmpty
        goOn()
        if !hasInput, !isPaused, !isClosed { stream.readNow() }
    }

    func pause() {
        guard !isPaused else { return }
        isPaused = true
        stream.stopReading()
        server.watchStalled()
    }

    func resume(_ session: Session) {
        guard !isYielding, !isHeld, session.output.count <= runtime.limits.unreadBytes / 2 else { return }
        goOn()
    }

    func goOn() {
        isPaused = false
        handlePending()
        guard !isPaused, !isClosed, !closesWhenWritten else { return }
        if hasInputEnded { endInput() } else { stream.startReading() }
        if isFinishing { finish() }
    }

    /// Handles what had been read before the client had too much to read.
    private func handlePending() {
        guard !pendingInput.isEmpty else { return }
        var input = pendingInput
        pendingInput = []
        let count = input.count
        input.append(contentsOf: repeatElement(0, count: MessageSplitter.paddingBytes))
        input.withUnsafeBytes { handle(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    func endInput() {
        hasInputEnded = true
        guard !isPaused, let session else { return }
        splitter.finishInput { handle($0, from: session) }
        guard !isPaused else { return }
        runtime.endInput(of: session)
    }
}
