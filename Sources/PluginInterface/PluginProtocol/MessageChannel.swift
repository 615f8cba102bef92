internal import BridgeJSON
package import BridgeMessage
package import EventLoop
import Glibc

/// A socket with a peer that uses the native form of the bridge protocol. It reads lines and writes messages. Loop
/// thread only.
@LoopActor
package final class MessageChannel {
    /// The reason for the end of a channel.
    package enum End: Sendable {
        /// The peer has closed it or has ended.
        case closed
        /// The peer sent an invalid message.
        case garbage(String)
        /// The socket failed.
        case failed(String)
    }

    /// The output to the peer, which is written at the end of the turn. Other code appends messages to it.
    private let output: OutputBuffer
    /// Called with each message, which is valid until it returns.
    package var receive: ((DecodedItem) -> Void)?
    /// Called once at the end, after all messages of the peer. Not called after ``close()``.
    package var ended: ((End) -> Void)?
    /// Called when all waiting output has been written.
    package var drained: (() -> Void)?

    private let stream: UnixStream
    /// The number of descriptors that were written since the peer had last received all output.
    private var sentDescriptors = 0
    private let lineBytes: Int
    private var splitter: MessageSplitter
    /// The decoder. Questions to interceptors and their answers contain a call's options or result one level deeper.
    private let decoder = MessageDecoder(extraDepth: 1)
    /// Whether the current message is nested deeper than other messages than these may be.
    package var isDeep: Bool { decoder.isDeep }
    private var turnEnd: TurnEndHook?
    private var isOver = false
    private var isStalled = false
    /// The scheduling of the peer among the users of the loop; `nil` without a scheduler.
    private var turns: StreamTurns?
    /// The end of the peer's share of this turn.
    private var shareEnd = UInt64.max
    /// The input that was read and must wait: a long line or the rest of a batch, and in ``pending`` the next lines.
    private var lineAtWork: OpenLine?
    private var pending = HeldInput()

    /// Called with each descriptor that the peer sends, before the message that it belongs to; `nil` to discard them.
    package var onDescriptor: ((consuming UnixSocket) -> Void)? {
        get { stream.onDescriptor }
        set { stream.onDescriptor = newValue }
    }

    /// Takes ownership of a connected socket and reads from it. The first report comes in the next turn of the loop or
    /// later.
    ///
    /// - Parameters:
    ///   - lineBytes: The maximum length of a line from the peer.
    ///   - output: The buffer that the user of this channel appends to.
    package init(_ socket: consuming UnixSocket, lineBytes: Int, output: OutputBuffer) throws(SystemError) {
        stream = try UnixStream(adopting: socket)
        self.output = output
        self.lineBytes = lineBytes
        splitter = MessageSplitter(maximumLineBytes: lineBytes)
        stream.delegate = self
        stream.startReading()
        turnEnd = EventLoop.atTurnEnd { [weak self] in self?.flush() }
    }

    /// Makes the peer share the loop with other users.
    package func share(_ scheduler: FairScheduler, as name: FairUser.Name) {
        let turns = StreamTurns(stream, scheduler, as: name)
        turns.handlePending = { [weak self] in self?.handlePending() ?? true }
        self.turns = turns
    }

    /// Notes that the current message is no answer, so that the peer competes with the other users of the loop.
    package func noteUnasked() { turns?.noteUnasked() }

    /// Writes as much output as the socket accepts now.
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

    /// Reads and handles the remaining input immediately, before a peer that has ended is removed.
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

    /// Closes the channel. Nothing is reported afterwards.
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

    /// Handles a line within the share; returns false if the rest must wait.
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

    /// Continues the current long line until it is done or the share is spent; returns false if input must wait.
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
        // This is checked before the end of the line, which may never arrive.
        if splitter.isDiscarding { return end(.garbage("a line that is longer than \(lineBytes) bytes")) }
        if lineAtWork != nil || !pending.isEmpty { turns?.wait() }
    }

    /// Handles lines within the share.
    ///
    /// - Returns: The number of bytes handled; the others must wait.
    private func takeLines(of bytes: UnsafeRawBufferPointer) -> Int {
        var takenBytes = 0
        while let line = splitter.nextLine(of: bytes, from: &takenBytes), take(line) {}
        return takenBytes
    }

    private func beginShare() {
        shareEnd = turns.map { $0.now &+ $0.share } ?? .max
    }

    /// Continues with input that was read before; returns false if some of it is left.
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
