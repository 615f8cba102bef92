import BridgeJSON
import DequeModule

/// One stream: bytes in one direction, from one writer to one reader, in order, complete or with an error, in a window
/// of bounded size. A state machine without sessions, calls, names or a clock: it receives events and returns answers.
///
/// An end may be a pipe. Bytes from the writer's pipe are added to the window, bytes for the reader's pipe are taken
/// from it. If both ends are the same pipe, the bytes never pass through this window.
///
/// `Waiter` identifies the call that is answered.
struct StreamState<Waiter> {
    /// The maximum number of unanswered writes: empty writes are limited too.
    static var maximumWrites: Int { 64 }

    /// The maximum number of bytes that wait for the reader.
    let windowBytes: Int
    /// The number of bytes that the writer has written, and that the reader has received.
    var writtenBytes: UInt64 = 0
    var readBytes: UInt64 = 0

    var window: StreamWindow
    /// Whether the writer has written all bytes.
    var hasAll = false
    /// Why the stream will never be complete; `nil` if it is not broken. If the writer caused it, waiting bytes are
    /// still for the reader; otherwise they are discarded.
    var brokenBy: StreamBreak?
    /// Whether each side has closed its end, was answered that the stream has ended, or has disconnected.
    var hasLeft: (writer: Bool, reader: Bool) = (false, false)

    /// Unanswered writes, the oldest first. The waiter is `nil` if its call has ended in another way.
    private var writes = Deque<(waiter: Waiter?, bytes: Int)>()
    private var unansweredBytes = 0
    /// The part of ``unansweredBytes`` in writes whose calls have ended: it counts until a later write is answered.
    private var forgottenBytes = 0
    /// The number of bytes that the writer may have unanswered, as sent in the last answer.
    private var credit: Int
    private var waitingRead: (waiter: Waiter, maximumBytes: Int)?
    /// Whether the reader can receive bytes now: it has read its earlier output. Set before every other operation.
    var isReaderReady = true
    /// The call that has closed the stream and waits until the reader has received the end.
    var closer: Waiter?

    /// Whether each end is a pipe.
    var isAttached: (writer: Bool, reader: Bool) = (false, false)
    /// Whether each side has used its end.
    var hasBegun: (writer: Bool, reader: Bool) = (false, false)
    /// The writer's count of bytes, if its end is a pipe and it has closed the stream.
    var countedBytes: UInt64?
    /// Whether the writer's pipe has ended.
    var isPipeOver = false
    /// Whether the reader, whose end is a pipe, has received the end and must still confirm that it has every byte.
    var awaitsReceipt = false

    init(windowBytes: Int) {
        self.windowBytes = windowBytes
        credit = windowBytes
        window = StreamWindow(capacityBytes: windowBytes)
    }

    /// Whether a read waits only for the reader itself: ``isReaderReady``.
    var isReadHeld: Bool { waitingRead != nil && waitingBytes > 0 && !isAttached.reader }
    /// The number of bytes that wait for the reader: at most ``windowBytes``.
    var waitingBytes: Int { window.count }
    /// The sum of written and read bytes.
    var movedBytes: UInt64 { writtenBytes &+ readBytes }
    /// Whether the writer has closed its end with an error, was answered that the stream has ended, or has
    /// disconnected.
    var writerHasLeft: Bool { hasLeft.writer }
    /// Whether the reader has closed its end, has received the end of the stream, or has disconnected.
    var readerHasLeft: Bool { hasLeft.reader }
    /// Whether both sides have left, so that the stream can be removed.
    var isOver: Bool { hasLeft.writer && hasLeft.reader }

    /// Whether the writer has closed the stream; some bytes may not have arrived.
    var isClosed: Bool { hasAll || countedBytes != nil }

    // MARK: The writer

    /// Adds bytes. The answer waits until half of the window is free or, with `isEnd`, until the reader has received
    /// the end.
    mutating func write(_ bytes: some Collection<UInt8>, isEnd: Bool, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        if isClosed { return [.failure(waiter, .closed)] }
        if let brokenBy {
            hasLeft.writer = true
            return [.failure(waiter, .broken(brokenBy, bytes: readBytes))]
        }
        hasBegun.writer = true
        if isAttached.writer, isEnd || !bytes.isEmpty { return [.failure(waiter, .attached)] }
        guard unansweredBytes + bytes.count <= credit else { return misuse(.exceeded(roomBytes: credit), waiter) }
        guard isEnd || writes.count < Self.maximumWrites else {
            return misuse(.crowded(maximum: Self.maximumWrites), waiter)
        }
        window.append(bytes)
        writtenBytes += UInt64(bytes.count)
        if isEnd { return finish(waiter) }
        writes.append((waiter, bytes.count))
        unansweredBytes += bytes.count
        return serve()
    }

    /// Completes the stream: the writer has written all bytes. The answer waits until the reader has received the end.
    ///
    /// - Parameter bytes: The writer's count of bytes; `nil` if it has not counted.
    mutating func complete(_ bytes: UInt64?, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        if isClosed { return [.failure(waiter, .closed)] }
        if let brokenBy {
            hasLeft.writer = true
            return [.receipt(waiter, bytes: readBytes, brokenBy)]
        }
        if isAttached.writer { return complete(pipeOf: bytes, waiter) }
        if let bytes, bytes != writtenBytes { return misuse(.miscounted(bytes: bytes), waiter) }
        return finish(waiter)
    }

    /// Breaks the stream because the writer sent invalid data: later data would otherwise be treated as the
    /// continuation.
    mutating func reject(_ error: BridgeError, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        if isClosed { return [.failure(waiter, .closed)] }
        return misuse(.left(error), waiter)
    }

    /// Breaks the stream because of a mistake of the writer, and answers the writer with the mistake.
    private mutating func misuse(_ cause: StreamBreak.Cause, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        let reason = StreamBreak(side: .writer, cause: cause)
        hasLeft.writer = true
        breakOff(reason)
        return serve() + [.failure(waiter, .broken(reason, bytes: readBytes))]
    }

    private mutating func finish(_ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        hasAll = true
        closer = waiter
        return serve()
    }

    // MARK: The reader

    /// Requests at most this many bytes. The answer waits for the first of them, or for the end.
    mutating func read(maximumBytes: Int, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        guard waitingRead == nil else { return [.failure(waiter, .busy)] }
        hasBegun.reader = true
        waitingRead = (waiter, max(1, maximumBytes))
        return serve()
    }

    // MARK: Early ends

    /// Ends a side that closes with an error or has disconnected. After the writer has left, the reader still receives
    /// waiting bytes. After the reader has left, the waiting bytes are discarded.
    mutating func leave(_ side: StreamSide, _ error: BridgeError?) -> [StreamAnswer<Waiter>] {
        switch side {
        case .writer:
            hasLeft.writer = true
            if !isClosed { breakOff(StreamBreak(side: side, cause: .left(error))) }
        case .reader:
            if !hasLeft.reader { breakOff(StreamBreak(side: side, cause: .left(error))) }
            hasLeft.reader = true
        }
        return serve()
    }

    /// Does the same for a side that is answered with the number of transferred bytes.
    mutating func close(_ side: StreamSide, _ error: BridgeError?, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        if side == .writer, isClosed { return [.failure(waiter, .closed)] }
        let answers = leave(side, error)
        return answers + [.receipt(waiter, bytes: readBytes, brokenBy)]
    }

    /// Ends the stream on behalf of the daemon. Each side is informed by the answer to its next call.
    mutating func end(_ error: BridgeError?) -> [StreamAnswer<Waiter>] {
        breakOff(StreamBreak(side: nil, cause: .left(error)))
        return serve()
    }

    mutating func breakOff(_ reason: StreamBreak) {
        // A stream that the reader has received completely stays complete.
        if hasAll, hasLeft.reader { return }
        if brokenBy == nil { brokenBy = reason }
        if reason.side != .writer { window.clear() }
    }

    /// Removes waiters whose calls have ended in another way; they are not answered. Their bytes stay, and count as
    /// unanswered until a later write is answered, because the writer does not know yet that there is room.
    mutating func forget(where isGone: (Waiter) -> Bool) {
        for index in writes.indices where writes[index].waiter.map(isGone) == true { writes[index].waiter = nil }
        if closer.map(isGone) == true { closer = nil }
        if let waiting = waitingRead?.waiter, isGone(waiting) { waitingRead = nil }
    }

    // MARK: Answers

    /// Returns all possible answers. Called when the reader is ready again.
    mutating func serve() -> [StreamAnswer<Waiter>] {
        serveRead() + serveWrites() + serveCloser()
    }

    mutating func serveRead() -> [StreamAnswer<Waiter>] {
        guard let (waiter, maximumBytes) = waitingRead else { return [] }
        if waitingBytes > 0 {
            guard isReaderReady, !isAttached.reader else { return [] }
            waitingRead = nil
            let bytes = window.take(maximumBytes)
            readBytes += UInt64(bytes.count)
            return [.bytes(waiter, bytes)]
        }
        guard hasAll || brokenBy != nil else { return [] }
        waitingRead = nil
        hasLeft.reader = brokenBy != nil || !isAttached.reader
        awaitsReceipt = !hasLeft.reader
        if let brokenBy { return [.failure(waiter, .broken(brokenBy, bytes: readBytes))] }
        return [.end(waiter, bytes: writtenBytes)]
    }

    mutating func serveWrites() -> [StreamAnswer<Waiter>] {
        if let brokenBy {
            let answers = writes.compactMap { write in
                write.waiter.map { StreamAnswer.failure($0, .broken(brokenBy, bytes: readBytes)) }
            }
            if !answers.isEmpty { hasLeft.writer = true }
            writes = []
            return answers
        }
        // An empty write to a pipe is answered when the reader has left.
        if isAttached.writer, !hasLeft.reader { return [] }
        var answers: [StreamAnswer<Waiter>] = []
        // Not for a few bytes of room: a writer may wait for each answer, so it can continue with at least half a
        // window.
        while waitingBytes <= windowBytes / 2, let write = writes.popFirst() {
            forgottenBytes += write.bytes
            guard let waiter = write.waiter else { continue }
            unansweredBytes -= forgottenBytes
            forgottenBytes = 0
            credit = windowBytes - waitingBytes + unansweredBytes
            answers.append(.room(waiter, bytes: credit))
        }
        return answers
    }

    mutating func serveCloser() -> [StreamAnswer<Waiter>] {
        guard hasLeft.reader || brokenBy != nil else { return [] }
        if closer != nil || hasAll { hasLeft.writer = true }
        defer { closer = nil }
        return closer.map { [.receipt($0, bytes: readBytes, brokenBy)] } ?? []
    }
}
