import BridgeJSON
import DequeModule

/// One stream: bytes in one direction, from one writer to one reader, in order, complete or with an error, in a window
/// of bounded size. A state machine without sessions, calls, names or a clock: what happens goes in, answers come out.
///
/// An end may be a pipe. The bytes of the writer's pipe are poured into the window, those for the reader's drained from
/// it; where both ends are the same pipe, the bytes never come here.
///
/// `Waiter` is the call that is answered.
struct StreamState<Waiter> {
    /// How many writes may be unanswered: those of no bytes are bounded too.
    static var maximumWrites: Int { 64 }

    /// How many bytes wait for the reader at most.
    let windowBytes: Int
    /// How many the writer has written, and the reader has got.
    var writtenBytes: UInt64 = 0
    var readBytes: UInt64 = 0

    var window: StreamWindow
    /// The writer has written all.
    var hasAll = false
    /// The stream is not complete and never will be. What waits in the window still goes to the reader.
    var brokenBy: StreamBreak?
    /// A side has closed its end, was answered that the stream has ended, or is gone.
    var hasLeft: (writer: Bool, reader: Bool) = (false, false)

    /// Writes that are not answered, the oldest first. Nil: their call has ended otherwise.
    private var writes = Deque<(waiter: Waiter?, bytes: Int)>()
    private var unansweredBytes = 0
    /// How many of these were in writes that are not answered any more: they count until a later write is answered.
    private var forgottenBytes = 0
    /// How much the writer may have unanswered: what the last answer said.
    private var credit: Int
    private var waitingRead: (waiter: Waiter, maximumBytes: Int)?
    /// Whether the reader can take bytes now: it has read what it was sent before. Set before anything else is done.
    var isReaderReady = true
    /// Who has closed the stream, and waits until the reader has got the end.
    var closer: Waiter?

    /// Which ends are pipes.
    var isAttached: (writer: Bool, reader: Bool) = (false, false)
    /// Which sides have used their end.
    var hasBegun: (writer: Bool, reader: Bool) = (false, false)
    /// How many bytes the writer has counted, where its end is a pipe and it has closed the stream.
    var countedBytes: UInt64?
    /// Nothing more comes from the writer's pipe.
    var isPipeOver = false
    /// The reader, whose end is a pipe, has got the end, and is to confirm that it has every byte.
    var awaitsReceipt = false

    init(windowBytes: Int) {
        self.windowBytes = windowBytes
        credit = windowBytes
        window = StreamWindow(capacityBytes: windowBytes)
    }

    /// Whether a read waits for nothing but the reader itself: ``isReaderReady``.
    var isReadHeld: Bool { waitingRead != nil && waitingBytes > 0 && !isAttached.reader }
    /// Bytes that wait for the reader: at most ``windowBytes``.
    var waitingBytes: Int { window.count }
    /// Bytes that have gone in, and out.
    var movedBytes: UInt64 { writtenBytes &+ readBytes }
    /// Whether the writer has closed its end with an error, was answered that the stream has ended, or is gone.
    var writerHasLeft: Bool { hasLeft.writer }
    /// Whether the reader has closed its end, has got the end of the stream, or is gone.
    var readerHasLeft: Bool { hasLeft.reader }
    /// Whether both sides have left, so that the stream can be forgotten.
    var isOver: Bool { hasLeft.writer && hasLeft.reader }

    /// Whether the writer has closed the stream, though not all may have come.
    var isClosed: Bool { hasAll || countedBytes != nil }

    // MARK: The writer

    /// Takes bytes. The answer waits until half of the window is free, or, with `isEnd`, until the reader has got the
    /// end.
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

    /// The writer has written all. The answer waits until the reader has got the end.
    ///
    /// - Parameter bytes: How many bytes the writer has counted; nil: it has not.
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

    /// The writer sent something that cannot be taken. What it sends later must not be taken for what follows: the
    /// stream is broken, for this reason.
    mutating func reject(_ error: BridgeError, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        if isClosed { return [.failure(waiter, .closed)] }
        return misuse(.left(error), waiter)
    }

    /// The writer did what it must not do: the stream is broken, and the writer is answered why.
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

    /// Asks for bytes: for at most so many. The answer waits for the first of them, or the end.
    mutating func read(maximumBytes: Int, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        guard waitingRead == nil else { return [.failure(waiter, .busy)] }
        hasBegun.reader = true
        waitingRead = (waiter, max(1, maximumBytes))
        return serve()
    }

    // MARK: An end before its time

    /// A side closes its end with an error, or is gone. After the writer has left, the reader still gets what waits.
    /// After the reader has left, nothing waits any longer.
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

    /// The same, for a side that is answered how far the stream came.
    mutating func close(_ side: StreamSide, _ error: BridgeError?, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        if side == .writer, isClosed { return [.failure(waiter, .closed)] }
        let answers = leave(side, error)
        return answers + [.receipt(waiter, bytes: readBytes, brokenBy)]
    }

    /// The daemon ends the stream. Each side is answered so when it next asks.
    mutating func end(_ error: BridgeError?) -> [StreamAnswer<Waiter>] {
        breakOff(StreamBreak(side: nil, cause: .left(error)))
        return serve()
    }

    mutating func breakOff(_ reason: StreamBreak) {
        // What the reader has whole stays complete.
        if hasAll, hasLeft.reader { return }
        if brokenBy == nil { brokenBy = reason }
        if reason.side != .writer { window.clear() }
    }

    /// Calls that have ended otherwise are not answered. What they wrote stays, and counts as unanswered until a later
    /// write is answered: the writer does not know yet that there is room.
    mutating func forget(where isGone: (Waiter) -> Bool) {
        for index in writes.indices where writes[index].waiter.map(isGone) == true { writes[index].waiter = nil }
        if closer.map(isGone) == true { closer = nil }
        if let waiting = waitingRead?.waiter, isGone(waiting) { waitingRead = nil }
    }

    // MARK: Answers

    /// Answers all that can be answered. To be called when the reader is ready again.
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
        // The write of no bytes to a pipe is answered when the reader has left.
        if isAttached.writer, !hasLeft.reader { return [] }
        var answers: [StreamAnswer<Waiter>] = []
        // Not for a few bytes of room: the writer, which may wait for each answer, gets on by half a window at least.
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
