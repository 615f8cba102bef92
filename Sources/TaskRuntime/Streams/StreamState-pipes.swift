import BridgeJSON

// Ends that are pipes.
extension StreamState {
    /// Whether the end of a side may be a pipe: that is the first thing that is done with it. A side that gets the
    /// error of a broken stream has left it.
    mutating func checkAttach(_ side: StreamSide) throws(StreamFailure) {
        let isWriter = side == .writer
        guard !(isWriter ? hasBegun.writer || isClosed : hasBegun.reader) else { throw .begun }
        // What a writer has left behind is still the reader's.
        if let brokenBy, isWriter || brokenBy.side != .writer {
            if isWriter { hasLeft.writer = true } else { hasLeft.reader = true }
            throw .broken(brokenBy, bytes: readBytes)
        }
    }

    /// The end of a side is a pipe from now on. After ``checkAttach(_:)``.
    mutating func attach(_ side: StreamSide) {
        let isWriter = side == .writer
        if isWriter { (isAttached.writer, hasBegun.writer) = (true, true) }
        if !isWriter { (isAttached.reader, hasBegun.reader) = (true, true) }
        if isDirect, let countedBytes { (writtenBytes, hasAll) = (countedBytes, true) }
    }

    /// Whether both ends are the same pipe.
    var isDirect: Bool { isAttached.writer && isAttached.reader }
    /// Whether no end of a pipe is of use to the daemon any longer: all bytes have come and gone, or none will.
    var isPipeDone: Bool {
        if isAttached.writer, !hasBegun.reader { return hasLeft.reader }
        return hasLeft.reader || waitingBytes == 0 && (hasAll || brokenBy != nil)
    }
    /// How many bytes the writer's pipe may bring now. None before the reader has shown that it reads messages.
    var pourBytes: Int {
        guard isAttached.writer, hasBegun.reader, !isDirect, !hasAll, !hasLeft.reader, !isPipeOver, brokenBy == nil
        else {
            return 0
        }
        return windowBytes - waitingBytes
    }

    /// Takes bytes that came from the writer's pipe, at most ``pourBytes``; none: it has ended.
    mutating func pour(_ bytes: [UInt8]) -> [StreamAnswer<Waiter>] {
        guard pourBytes > 0 else { return [] }
        window.append(bytes)
        writtenBytes += UInt64(bytes.count)
        isPipeOver = bytes.isEmpty
        return checkPipe()
    }

    /// Writes what waits to the reader's pipe, which takes as much as `write` returns.
    mutating func drain(_ write: (UnsafeRawBufferPointer) -> Int) -> [StreamAnswer<Waiter>] {
        guard isAttached.reader, waitingBytes > 0 else { return [] }
        readBytes += UInt64(window.drain(write))
        return serve()
    }

    mutating func complete(pipeOf bytes: UInt64?, _ waiter: Waiter) -> [StreamAnswer<Waiter>] {
        guard let bytes else { return [.failure(waiter, .uncounted)] }
        (countedBytes, closer) = (bytes, waiter)
        if isDirect { writtenBytes = bytes }
        return checkPipe()
    }

    /// The stream is complete once as many bytes have come as the writer has counted, whether its pipe has ended or
    /// not: a child of the writer's may have inherited it.
    private mutating func checkPipe() -> [StreamAnswer<Waiter>] {
        guard let countedBytes, !hasAll else { return serve() }
        hasAll = writtenBytes == countedBytes
        if writtenBytes > countedBytes || isPipeOver && !hasAll {
            breakOff(StreamBreak(side: .writer, cause: .miscounted(bytes: countedBytes)))
        }
        return serve()
    }

    /// The reader, whose end is a pipe, has got the end and every byte.
    ///
    /// - Parameter bytes: how many it has counted; nil: it has not.
    /// - Returns: nil: it has not got the end, or not counted, and leaves before it has all.
    mutating func confirm(_ bytes: UInt64?, _ waiter: Waiter) -> [StreamAnswer<Waiter>]? {
        guard awaitsReceipt, brokenBy == nil, let bytes else { return nil }
        readBytes = bytes
        if readBytes != writtenBytes {
            breakOff(StreamBreak(side: .reader, cause: .miscounted(bytes: readBytes)))
        }
        hasLeft.reader = true
        return serve() + [.receipt(waiter, bytes: readBytes, brokenBy)]
    }
}
