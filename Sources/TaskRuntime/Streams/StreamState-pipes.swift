import BridgeJSON

// Ends of streams that are pipes.
extension StreamState {
    /// Checks that a side's end may become a pipe: that must be the first use of the end. A side that receives the
    /// error of a broken stream has left it.
    mutating func checkAttach(_ side: StreamSide) throws(StreamFailure) {
        let isWriter = side == .writer
        guard !(isWriter ? hasBegun.writer || isClosed : hasBegun.reader) else { throw .begun }
        // Bytes that a writer left behind are still for the reader.
        if let brokenBy, isWriter || brokenBy.side != .writer {
            if isWriter { hasLeft.writer = true } else { hasLeft.reader = true }
            throw .broken(brokenBy, bytes: readBytes)
        }
    }

    /// Makes a side's end a pipe. Called after ``checkAttach(_:)``.
    mutating func attach(_ side: StreamSide) {
        let isWriter = side == .writer
        if isWriter { (isAttached.writer, hasBegun.writer) = (true, true) }
        if !isWriter { (isAttached.reader, hasBegun.reader) = (true, true) }
        if isDirect, let countedBytes { (writtenBytes, hasAll) = (countedBytes, true) }
    }

    /// Whether both ends are the same pipe.
    var isDirect: Bool { isAttached.writer && isAttached.reader }
    /// Whether the daemon does not need any end of the pipe any more: all bytes have been transferred, or no more will
    /// be.
    var isPipeDone: Bool {
        if isAttached.writer, !hasBegun.reader { return hasLeft.reader }
        return hasLeft.reader || waitingBytes == 0 && (hasAll || brokenBy != nil)
    }
    /// The number of bytes that may now be read from the writer's pipe; 0 before the reader has shown that it reads
    /// messages.
    var pourBytes: Int {
        guard isAttached.writer, hasBegun.reader, !isDirect, !hasAll, !hasLeft.reader, !isPipeOver, brokenBy == nil
        else {
            return 0
        }
        return windowBytes - waitingBytes
    }

    /// Adds bytes from the writer's pipe, at most ``pourBytes``; an empty array means that the pipe has ended.
    mutating func pour(_ bytes: [UInt8]) -> [StreamAnswer<Waiter>] {
        guard pourBytes > 0 else { return [] }
        window.append(bytes)
        writtenBytes += UInt64(bytes.count)
        isPipeOver = bytes.isEmpty
        return checkPipe()
    }

    /// Writes waiting bytes to the reader's pipe. `write` returns the number that the pipe accepted.
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

    /// Completes the stream once as many bytes have arrived as the writer has counted, whether its pipe has ended or
    /// not: a child process of the writer may have inherited it.
    private mutating func checkPipe() -> [StreamAnswer<Waiter>] {
        guard let countedBytes, !hasAll else { return serve() }
        hasAll = writtenBytes == countedBytes
        if writtenBytes > countedBytes || isPipeOver && !hasAll {
            breakOff(StreamBreak(side: .writer, cause: .miscounted(bytes: countedBytes)))
        }
        return serve()
    }

    /// Confirms that the reader, whose end is a pipe, has received the end of the stream and every byte.
    ///
    /// - Parameter bytes: The reader's count; `nil` if it has not counted.
    /// - Returns: `nil` if the reader has not received the end, or has not counted, and so leaves early.
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
