@testable import TaskRuntime

// The state of one stream, with a writer and a reader, each of which may use a pipe. The input: a byte that selects
// which of them may, then steps of a few bytes; see `StreamPlay.step`.
//
// - The reader has received a prefix of the written bytes.
// - Complete, for either side, means that the reader has all bytes, and that the writer has closed the stream.
// - Each call ends once, and none waits when both sides have left.
// - No more bytes wait than the window holds; a writer that keeps within its room is not refused for more.
func fuzzStreams(_ bytes: [UInt8]) throws(Violation) {
    var play = StreamPlay(FuzzInput(bytes))
    for _ in 0..<400 where !play.input.isEmpty { try play.step() }
    try play.finish()
}

/// A play of both sides, beside a simple account of the required state.
private struct StreamPlay {
    private static let windowBytes = 64
    private static let pipeBytes = 40

    private(set) var input: FuzzInput
    private let mayAttach: (writer: Bool, reader: Bool)
    private var state = StreamState<Int>(windowBytes: windowBytes)
    private var lastWaiter = 0
    private var waiting: Set<Int> = []
    /// The bytes that the writer has written, by its pipe or by messages, and those that the reader has received.
    private var written: [UInt8] = []
    private var received: [UInt8] = []
    /// The content of the pipe: after the writer, or before the reader, or both.
    private var pipe: [UInt8] = []
    private var isPipeClosed = false
    /// The bytes of writes without an answer, and the number that may be unanswered.
    private var unanswered: [Int: Int] = [:]
    private var room = windowBytes
    private var hasClosed = false
    /// The writer has closed its pipe with a byte count that differs from the bytes written.
    private var hasMiscounted = false
    private var hasEnded = false

    init(_ input: FuzzInput) {
        self.input = input
        let choice = self.input.byte()
        mayAttach = (choice & 1 != 0, choice & 2 != 0)
    }

    // MARK: Events

    mutating func step() throws(Violation) {
        switch choose(32) {
        case 0 where mayAttach.writer: try attach(.writer)
        case 1 where mayAttach.reader: try attach(.reader)
        case 2..<10: try write(isEnd: !state.isAttached.writer && isOne(of: 25))
        case 10..<18: try move()
        case 18..<26: try read()
        case 26: try close()
        case 27 where isOne(of: 6): try leave(isOne(of: 2) ? .writer : .reader)
        case 28 where isOne(of: 6): try note(state.end(nil))
        case 29: try setReady(isOne(of: 2))
        default: forget()
        }
        try require(
            state.waitingBytes <= Self.windowBytes && state.pourBytes <= Self.windowBytes,
            "\(state.waitingBytes) bytes wait")
        try require(written.starts(with: received), "\(received.count) bytes are no beginning of what was written")
    }

    /// Ends both sides.
    mutating func finish() throws(Violation) {
        try setReady(true)
        try note(state.leave(.writer, nil))
        try note(state.leave(.reader, nil))
        try require(
            state.isOver && waiting.isEmpty && (state.waitingBytes == 0 || state.isAttached.reader),
            "\(waiting.count) calls wait for a stream that both sides have left")
    }

    private mutating func choose(_ count: Int) -> Int { Int(input.byte()) % count }

    private mutating func isOne(of count: Int) -> Bool { choose(count) == 0 }

    private mutating func begin() -> Int {
        lastWaiter += 1
        waiting.insert(lastWaiter)
        return lastWaiter
    }

    private mutating func attach(_ side: StreamSide) throws(Violation) {
        do throws(StreamFailure) {
            try state.checkAttach(side)
            state.attach(side)
        } catch {}
        try note(state.serve())
    }

    /// Returns new bytes, at most that number. The value of each follows from its position in the stream.
    private mutating func newBytes(_ maximum: Int) -> [UInt8] {
        let first = written.count
        return (first..<first + choose(max(0, maximum) + 1)).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    }

    private mutating func write(isEnd: Bool) throws(Violation) {
        if state.isAttached.writer {
            guard !isPipeClosed else { return }
            let bytes = newBytes(Self.pipeBytes - pipe.count)
            pipe += bytes
            return written += bytes
        }
        let bytes = newBytes(room - unanswered.values.reduce(0, +))
        let waiter = begin()
        let before = state.writtenBytes
        let answers = state.write(bytes, isEnd: isEnd, waiter)
        if state.writtenBytes > before { written += bytes }
        if isEnd { hasClosed = true } else { unanswered[waiter] = bytes.count }
        try note(answers)
    }

    /// Moves bytes between pipe and window, as the daemon does.
    private mutating func move() throws(Violation) {
        guard !state.isDirect else { return }
        if state.isAttached.writer, state.pourBytes > 0, !pipe.isEmpty || isPipeClosed {
            let bytes = Array(pipe.prefix(min(state.pourBytes, 1 + choose(20))))
            pipe.removeFirst(bytes.count)
            try note(state.pour(bytes))
        }
        let room = min(Self.pipeBytes - pipe.count, choose(21))
        var moved: [UInt8] = []
        let answers = state.drain { bytes in
            moved = Array(bytes.prefix(room))
            return moved.count
        }
        pipe += moved
        try note(answers)
    }

    private mutating func read() throws(Violation) {
        if state.isAttached.reader {
            let count = choose(pipe.count + 1)
            received += pipe.prefix(count)
            pipe.removeFirst(count)
        }
        let waiter = begin()
        try note(state.read(maximumBytes: choose(81), waiter))
    }

    private mutating func close() throws(Violation) {
        let waiter = begin()
        if state.isAttached.reader, isOne(of: 2) {
            guard let answers = state.confirm(UInt64(received.count), waiter) else { return end(waiter) }
            return try note(answers)
        }
        if !state.isAttached.writer, isOne(of: 16) { return try note(state.close(.reader, nil, waiter)) }
        (isPipeClosed, hasClosed) = (true, true)
        guard state.isAttached.writer else {
            return try note(state.complete(isOne(of: 2) ? UInt64(written.count) : nil, waiter))
        }
        let isWrong = isOne(of: 5)
        hasMiscounted = hasMiscounted || isWrong
        try note(state.complete(UInt64(written.count + (isWrong ? 1 : 0)), waiter))
    }

    private mutating func leave(_ side: StreamSide) throws(Violation) { try note(state.leave(side, nil)) }

    private mutating func setReady(_ isReady: Bool) throws(Violation) {
        state.isReaderReady = isReady
        try note(state.serve())
    }

    /// Ends a waiting call in another way.
    private mutating func forget() {
        guard !waiting.isEmpty else { return }
        let gone = waiting.sorted()[choose(waiting.count)]
        waiting.remove(gone)
        state.forget { $0 == gone }
    }

    // MARK: Answers

    private mutating func note(_ answers: [StreamAnswer<Int>]) throws(Violation) {
        for answer in answers {
            switch answer {
            case .room(let waiter, let bytes):
                try answered(waiter)
                for earlier in unanswered.keys where earlier <= waiter { unanswered[earlier] = nil }
                room = bytes
            case .bytes(let waiter, let bytes):
                try answered(waiter)
                try require(!bytes.isEmpty && !state.isAttached.reader, "\(bytes.count) bytes in a message")
                received += bytes
            case .end(let waiter, let bytes):
                try answered(waiter)
                try noteEnd(bytes)
            case .receipt(let waiter, let bytes, let reason):
                try answered(waiter)
                try check(bytes, isComplete: reason == nil)
            case .failure(let waiter, let failure):
                try answered(waiter)
                if case .broken(let reason, let bytes) = failure { try check(reason, bytes) }
            }
        }
    }

    private mutating func answered(_ waiter: Int) throws(Violation) {
        try require(waiting.contains(waiter), "\(waiter) is answered twice, or has not asked")
        end(waiter)
    }

    private mutating func end(_ waiter: Int) { waiting.remove(waiter) }

    private mutating func noteEnd(_ bytes: UInt64) throws(Violation) {
        hasEnded = true
        // The daemon does not see the bytes of a shared pipe: the reader compares.
        let isRight = bytes == UInt64(written.count) || state.isDirect && hasMiscounted
        try require(hasClosed && isRight, "the end after \(bytes) of \(written.count) bytes")
        try require(state.isAttached.reader || received == written, "the end before every byte was read")
    }

    private func check(_ bytes: UInt64, isComplete: Bool) throws(Violation) {
        if isComplete {
            try require(
                hasEnded && received == written && bytes == UInt64(written.count),
                "complete with \(received.count) of \(written.count) bytes")
        } else {
            try require(state.isAttached.reader || !hasEnded, "broken behind the end")
        }
        try require(state.isAttached.reader || bytes == UInt64(received.count), "\(received.count) bytes, not \(bytes)")
    }

    private func check(_ reason: StreamBreak, _ bytes: UInt64) throws(Violation) {
        try require(state.isAttached.reader || bytes == UInt64(received.count), "\(received.count) bytes, not \(bytes)")
        switch reason.cause {
        case .left(let error): try require(error == nil, "an error that nobody gave")
        case .crowded: break
        case .miscounted: try require(hasMiscounted || state.isAttached.reader, "miscounted by nobody")
        case .exceeded(let room): try require(false, "refused for more than its room of \(room)")
        }
    }
}
