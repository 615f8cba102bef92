import TestSupport
import Testing

@testable import TaskRuntime

@Suite("Ends of streams that are pipes, in any order of events")
struct StreamPipePropertyTests {
    @Test(
        "The reader's bytes are a beginning of the writer's, complete means all, and each call ends once",
        arguments: 0..<300 as Range<UInt64>)
    func property(seed: UInt64) {
        var play = PipePlay(seed: seed)
        for _ in 0..<200 { play.step() }
        play.finish()
    }
}

/// A random play of two sides, of which each may use a pipe, beside a plain account of what must hold.
private struct PipePlay {
    private static let windowBytes = 64
    private static let pipeBytes = 40

    private var generator: SeededGenerator
    private var state = StreamState<Int>(windowBytes: windowBytes)
    private var nextWaiter = 0
    private var waiting: Set<Int> = []
    /// What the writer has written, by its pipe or by messages, and what the reader has taken.
    private var written: [UInt8] = []
    private var received: [UInt8] = []
    /// What is in the pipe: behind the writer, or before the reader, or both.
    private var pipe: [UInt8] = []
    private var isPipeClosed = false
    private var unansweredBytes = 0
    private var hasEnded = false
    private var isComplete = false
    private var closer: Int?

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func step() {
        switch Int.random(in: 0..<30, using: &generator) {
        case 0: attach(.writer)
        case 1: attach(.reader)
        case 2..<10: write()
        case 10..<18: move()
        case 18..<26: read()
        case 26: close()
        case 27 where chance(6): note(state.leave(Bool.random(using: &generator) ? .writer : .reader, nil))
        case 28 where chance(6): note(state.end(nil))
        default: forget()
        }
        #expect(state.waitingBytes <= Self.windowBytes && state.pourBytes <= Self.windowBytes)
        #expect(received == Array(written.prefix(received.count)))
        if isComplete { #expect(received == written && hasEnded) }
    }

    /// Nobody waits for ever once both sides have left.
    mutating func finish() {
        note(state.leave(.writer, nil))
        note(state.leave(.reader, nil))
        #expect(state.isOver && waiting.isEmpty)
    }

    private mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &generator) == 0 }

    private mutating func begin() -> Int {
        nextWaiter += 1
        waiting.insert(nextWaiter)
        return nextWaiter
    }

    private mutating func attach(_ side: StreamSide) {
        try? state.attach(side)
        note(state.serve())
    }

    private mutating func someBytes(_ maximum: Int) -> [UInt8] {
        (0..<Int.random(in: 0...max(0, maximum), using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
    }

    private mutating func write() {
        if state.isAttached.writer {
            guard !isPipeClosed else { return }
            let bytes = someBytes(Self.pipeBytes - pipe.count)
            pipe += bytes
            return written += bytes
        }
        let bytes = someBytes(Self.windowBytes / 2 - unansweredBytes)
        let before = state.writtenBytes
        unansweredBytes += bytes.count
        let answers = state.write(bytes, isEnd: false, begin())
        if state.writtenBytes > before { written += bytes }
        note(answers)
    }

    /// The daemon moves what it can between pipe and window.
    private mutating func move() {
        guard !state.isDirect else { return }
        if state.isAttached.writer, state.pourBytes > 0, !pipe.isEmpty || isPipeClosed {
            let bytes = Array(pipe.prefix(min(state.pourBytes, 1 + Int.random(in: 0..<20, using: &generator))))
            pipe.removeFirst(bytes.count)
            note(state.pour(bytes))
        }
        let room = min(Self.pipeBytes - pipe.count, Int.random(in: 0...20, using: &generator))
        var moved: [UInt8] = []
        let answers = state.drain { bytes in
            moved = Array(bytes.prefix(room))
            return moved.count
        }
        pipe += moved
        note(answers)
    }

    private mutating func read() {
        if state.isAttached.reader {
            let count = Int.random(in: 0...pipe.count, using: &generator)
            received += pipe.prefix(count)
            pipe.removeFirst(count)
        }
        let waiter = begin()
        note(state.read(maximumBytes: Int.random(in: 1...80, using: &generator), waiter))
    }

    private mutating func close() {
        if state.isAttached.reader, chance(2) {
            let waiter = begin()
            guard let answers = state.confirm(UInt64(received.count), waiter) else {
                waiting.remove(waiter)
                return
            }
            return note(answers)
        }
        isPipeClosed = true
        let wrong = chance(5) ? 1 : 0
        let waiter = begin()
        closer = waiter
        note(state.complete(UInt64(written.count + wrong), waiter))
    }

    /// A call that waits ends otherwise.
    private mutating func forget() {
        guard let gone = waiting.randomElement(using: &generator) else { return }
        waiting.remove(gone)
        state.forget { $0 == gone }
    }

    private mutating func note(_ answers: [StreamAnswer<Int>]) {
        for answer in answers {
            switch answer {
            case .room(let waiter, _):
                unansweredBytes = 0
                end(waiter)
            case .bytes(let waiter, let bytes):
                #expect(!state.isAttached.reader)
                received += bytes
                end(waiter)
            case .end(let waiter, let bytes):
                // Of one pipe the daemon sees no bytes: the reader compares.
                #expect(state.isDirect || bytes == UInt64(written.count))
                hasEnded = true
                end(waiter)
            case .receipt(let waiter, let bytes, let reason):
                if reason == nil {
                    #expect(hasEnded && bytes == UInt64(written.count))
                    if waiter == closer { isComplete = true }
                }
                end(waiter)
            case .failure(let waiter, _): end(waiter)
            }
        }
    }

    private mutating func end(_ waiter: Int) { #expect(waiting.remove(waiter) != nil, "\(waiter) was answered twice") }
}
