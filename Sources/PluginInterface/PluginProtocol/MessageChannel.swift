internal import BridgeJSON
package import BridgeMessage
package import EventLoop
import Glibc

/// One socket with a peer that speaks the bridge protocol in its native form: lines in, messages out. Loop thread only.
@LoopActor
package final class MessageChannel {
    /// Why a channel is over.
    package enum End: Sendable {
        /// The peer has closed it, or is gone.
        case closed
        /// The peer sent what is no message.
        case garbage(String)
        /// The socket broke.
        case failed(String)
    }

    /// What is written to the peer at the end of the turn: code that has something to say appends to it.
    private let output: OutputBuffer
    /// Gets each message, which is valid until it returns.
    package var receive: ((DecodedItem) -> Void)?
    /// Called once at the end, after everything that the peer had sent. Not called after ``close()``.
    package var ended: ((End) -> Void)?
    /// Called when everything has been written that had to wait.
    package var drained: (() -> Void)?

    private let stream: UnixStream
    /// Descriptors that were written since the peer had received all.
    private var sentDescriptors = 0
    private let lineBytes: Int
    private var splitter: MessageSplitter
    /// What an interceptor is asked and answers bears a call's options, or its result, one level deeper.
    private let decoder = MessageDecoder(extraDepth: 1)
    /// Whether the message at hand is nested deeper than others than these may be.
    package var isDeep: Bool { decoder.isDeep }
    private var turnEnd: TurnEndHook?
    private var isOver = false
    private var isStalled = false
    /// Where the peer takes turns with others.
    private var turns: StreamTurns?
    /// When the peer's share of this turn ends.
    private var shareEnd = UInt64.max
    /// What was read and has to wait: a long line or the rest of a batch, then lines.
    private var lineAtWork: OpenLine?
    private var pending = HeldInput()

    /// Gets the descriptors that the peer sends, ahead of the message beside which they come; nil: they are lost.
    package var onDescriptor: ((consuming UnixSocket) -> Void)? {
        get { stream.onDescriptor }
        set { stream.onDescriptor = newValue }
    }

    /// Takes over a connected socket and reads from it. Nothing is reported before the next turn of the loop.
    ///
    /// - Parameters:
    ///   - lineBytes: the longest line that the peer may send.
    ///   - output: where the user of this channel writes.
    package init(_ socket: consuming UnixSocket, lineBytes: Int, output: OutputBuffer) throws(SystemError) {
        stream = try UnixStream(adopting: socket)
        self.output = output
        self.lineBytes = lineBytes
        splitter = MessageSplitter(maximumLineBytes: lineBytes)
        stream.delegate = self
        stream.startReading()
        turnEnd = EventLoop.atTurnEnd { [weak self] in self?.flush() }
    }

    /// Has the peer take turns with other users of the loop.
    package func share(_ scheduler: FairScheduler, as name: FairUser.Name) {
        let turns = StreamTurns(stream, scheduler, as: name)
        turns.handlePending = { [weak self] in self?.handlePending() ?? true }
        self.turns = turns
    }

    /// The message at hand is no answer to anything: the peer competes with the other users of the loop.
    package func noteUnasked() { turns?.noteUnasked() }

    /// Writes now what the socket takes.
    package func flush() {
        guard !isOver, !output.isEmpty else { return }
        while !output.isEmpty {
            let (bytes, passed) = output.passedCount == 0 ? (output.bytes, nil) : output.front
            let writtenBytes = passed.map { stream.write(bytes, with: $0.descriptor) } ?? stream.write(bytes)
            guard writtenBytes > 0 else {
                isStalled = true
                return
            }
            if passed != nil { sentDescriptors += 1 }
            output.removeFirst(writtenBytes)
        }
        if isStalled {
            isStalled = false
            drained?()
        }
    }

    /// Reads and handles, here and now, what the peer had said: before a peer that has ended is forgotten.
    package func readRest(limitBytes: Int) {
        guard !isOver else { return }
        turns?.close()
        turns = nil
        _ = handlePending()
        if !isOver {
            stream.startReading()
            stream.readAvailable(limitBytes: limitBytes)
        }
    }

    /// Closes it. Nothing is reported after that.
    package func close() {
        isOver = true
        receive = nil
        ended = nil
        drained = nil
        turnEnd?.remove()
        turns?.close()
        lineAtWork = nil
        pending = HeldInput()
        stream.close()
    }

    private func end(_ end: End) {
        guard !isOver else { return }
        isOver = true
        let ended = ended
        close()
        ended?(end)
    }

    /// Handles a line as far as the share goes; false where the rest has to wait.
    private func take(_ line: SplitLine) -> Bool {
        if turns != nil, case .line(let bytes) = line, bytes.count > OpenLine.longBytes {
            lineAtWork = decoder.open(bytes, of: &splitter)
            return continueLine()
        }
        let outcome = decoder.decode(line) { take($0) }
        if case .stopped(let offset) = outcome, case .line(let bytes) = line, !isOver {
            lineAtWork = decoder.open(restOf: bytes, from: offset)
        }
        return !isOver && hasShare
    }

    /// Takes steps of the line at work until it is done or the share is spent; false where something has to wait.
    private func continueLine() -> Bool {
        while let line = lineAtWork {
            if case .item(let item) = decoder.advance(line) { _ = take(item) }
            guard !isOver else { return false }
            if line.isFinished { lineAtWork = nil }
            guard hasShare else { return false }
        }
        return true
    }

    private func take(_ item: DecodedItem) -> Bool {
        if case .problem(let problem) = item {
            end(.garbage(problem.pointee.error.message))
        } else {
            receive?(item)
        }
        return !isOver && hasShare
    }

    private var hasShare: Bool { turns.map { $0.now < shareEnd } ?? true }

    private func handle(_ bytes: UnsafeRawBufferPointer) {
        beginShare()
        let takenBytes = takeLines(of: bytes)
        guard !isOver else { return }
        pending.append(bytes[takenBytes...])
        // Not only at its end, which may never come.
        if splitter.isDiscarding { return end(.garbage("a line that is longer than \(lineBytes) bytes")) }
        if lineAtWork != nil || !pending.isEmpty { turns?.wait() }
    }

    /// Handles lines as far as the share goes.
    ///
    /// - Returns: how many bytes were taken; the others have to wait.
    private func takeLines(of bytes: UnsafeRawBufferPointer) -> Int {
        var takenBytes = 0
        while let line = splitter.nextLine(of: bytes, from: &takenBytes), take(line) {}
        return takenBytes
    }

    private func beginShare() {
        shareEnd = turns.map { $0.now &+ $0.share } ?? .max
    }

    /// Goes on with what was read before; false where some of it is left.
    private func handlePending() -> Bool {
        beginShare()
        if !continueLine() { return isOver }
        guard !pending.isEmpty else { return true }
        var input = pending.take()
        input.removeFirst(input.withBytes { takeLines(of: $0) })
        if !isOver { pending.putBack(input) }
        return isOver || lineAtWork == nil && pending.isEmpty
    }
}

extension MessageChannel: @LoopActor DescriptorReceiver {
    package var unreadDescriptors: Int {
        if sentDescriptors > 0, stream.isReceived { sentDescriptors = 0 }
        return sentDescriptors + output.passedCount
    }

    package func pass(_ descriptor: PassedDescriptor) { output.pass(descriptor) }
}

extension MessageChannel: UnixStreamDelegate {
    package func mayRead() -> Bool { turns?.mayRead() ?? true }

    package func read(bytes: UnsafeRawBufferPointer) {
        if let turns { turns.charged { handle(bytes) } } else { handle(bytes) }
    }

    package func endOfInput() { end(.closed) }

    package func hangUp() { end(.closed) }

    package func writable() { flush() }

    package func failed(_ error: SystemError) { end(.failed("\(error)")) }
}
