import BridgeJSON
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
        /// The peer said what is no message.
        case garbage(String)
        /// The socket broke.
        case failed(String)
    }

    /// What is written to the peer at the end of the turn: whoever has something to say appends to it.
    private let output: OutputBuffer
    /// Told of each message. What it is handed is good until it returns.
    package var receive: ((DecodedItem) -> Void)?
    /// Told once of the end, after everything that the peer had sent. Not told of ``close()``.
    package var ended: ((End) -> Void)?
    /// Told when everything has been written that had to wait.
    package var drained: (() -> Void)?

    private let stream: UnixStream
    private let lineBytes: Int
    private var splitter: MessageSplitter
    /// What an interceptor is asked and answers bears a call's options, or its result, one level deeper.
    private let decoder = MessageDecoder(extraDepth: 1)
    /// Whether the message at hand is nested deeper than others than these may be.
    package var isDeep: Bool { decoder.isDeep }
    private var turnEnd: TurnEndHook?
    private var isOver = false
    private var isStalled = false

    /// Takes over a connected socket and reads from it. Nothing is told before the next turn of the loop.
    ///
    /// - Parameters:
    ///   - lineBytes: the longest line that the peer may send.
    ///   - output: where whoever uses this channel writes.
    package init(_ socket: consuming UnixSocket, lineBytes: Int, output: OutputBuffer) throws(SystemError) {
        stream = try UnixStream(adopting: socket)
        self.output = output
        self.lineBytes = lineBytes
        splitter = MessageSplitter(maximumLineBytes: lineBytes)
        stream.delegate = self
        stream.startReading()
        turnEnd = EventLoop.atTurnEnd { [weak self] in self?.flush() }
    }

    /// Writes now what the socket takes.
    package func flush() {
        guard !isOver, !output.isEmpty else { return }
        while !output.isEmpty {
            let writtenBytes = stream.write(output.bytes)
            guard writtenBytes > 0 else {
                isStalled = true
                return
            }
            output.removeFirst(writtenBytes)
        }
        if isStalled {
            isStalled = false
            drained?()
        }
    }

    /// Reads, here and now, what the peer had said: before a peer that has ended is forgotten.
    package func readRest(limitBytes: Int) {
        if !isOver { stream.readAvailable(limitBytes: limitBytes) }
    }

    /// Closes it. Nothing is told any more.
    package func close() {
        isOver = true
        receive = nil
        ended = nil
        drained = nil
        turnEnd?.remove()
        stream.close()
    }

    private func end(_ end: End) {
        guard !isOver else { return }
        isOver = true
        let ended = ended
        close()
        ended?(end)
    }

    private func take(_ line: SplitLine) -> Bool {
        _ = decoder.decode(line) { item in
            if case .problem(let problem) = item {
                end(.garbage(problem.pointee.error.message))
            } else {
                receive?(item)
            }
            return !isOver
        }
        return !isOver
    }
}

extension MessageChannel: UnixStreamDelegate {
    package func read(bytes: UnsafeRawBufferPointer) {
        _ = splitter.consume(bytes) { take($0) }
        // Not only at its end, which may never come.
        if splitter.isDiscarding { end(.garbage("a line that is longer than \(lineBytes) bytes")) }
    }

    package func endOfInput() { end(.closed) }

    package func hangUp() { end(.closed) }

    package func writable() { flush() }

    package func failed(_ error: SystemError) { end(.failed("\(error)")) }
}
