import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("The state of a stream")
struct StreamStateTests {
    private typealias State = StreamState<Int>

    private func bytes(_ count: Int) -> [UInt8] { Array(repeating: 7, count: count) }

    /// Returns answers as short texts, for comparison.
    private func texts(_ answers: [StreamAnswer<Int>]) -> [String] {
        answers.map { answer in
            switch answer {
            case .room(let waiter, let bytes): "\(waiter): room \(bytes)"
            case .bytes(let waiter, let bytes): "\(waiter): \(bytes.count) bytes"
            case .end(let waiter, let bytes): "\(waiter): end \(bytes)"
            case .receipt(let waiter, let bytes, let reason): "\(waiter): receipt \(bytes) \(text(reason))"
            case .failure(let waiter, .broken(let reason, let bytes)): "\(waiter): broken \(bytes) \(text(reason))"
            case .failure(let waiter, let failure): "\(waiter): \(failure)"
            }
        }
    }

    private func text(_ reason: StreamBreak?) -> String {
        guard let reason else { return "complete" }
        let side = reason.side?.rawValue ?? "daemon"
        switch reason.cause {
        case .left(let error): return "by \(side)" + (error.map { ", \($0.code)" } ?? "")
        case .exceeded(let room): return "by \(side), over \(room)"
        case .crowded(let maximum): return "by \(side), over \(maximum) writes"
        case .miscounted(let bytes): return "by \(side), counted \(bytes)"
        }
    }

    @Test("Bytes arrive in order, and both sides get the confirmation that the stream is complete")
    func complete() {
        var state = State(windowBytes: 100)
        #expect(texts(state.write([1, 2, 3], isEnd: false, 1)) == ["1: room 97"])
        #expect(texts(state.read(maximumBytes: 2, 2)) == ["2: 2 bytes"])
        #expect(texts(state.complete(3, 3)) == [])
        #expect(texts(state.read(maximumBytes: 9, 4)) == ["4: 1 bytes"])
        #expect(!state.isOver)
        #expect(texts(state.read(maximumBytes: 9, 5)) == ["5: end 3", "3: receipt 3 complete"])
        #expect(state.isOver)
    }

    @Test("A read waits for the first byte, and a second read gets busy")
    func waitingRead() {
        var state = State(windowBytes: 100)
        #expect(texts(state.read(maximumBytes: 9, 1)) == [])
        #expect(texts(state.read(maximumBytes: 9, 2)) == ["2: busy"])
        #expect(texts(state.write(bytes(20), isEnd: false, 3)) == ["1: 9 bytes", "3: room 89"])
    }

    @Test("A write's bytes are accepted at once, and it is answered when there is room")
    func backPressure() {
        var state = State(windowBytes: 100)
        #expect(texts(state.write(bytes(50), isEnd: false, 1)) == ["1: room 50"])
        #expect(texts(state.write(bytes(30), isEnd: false, 2)) == [])
        #expect(texts(state.write(bytes(20), isEnd: false, 3)) == [])
        #expect(state.waitingBytes == 100)
        // Writes are not answered for less room than half of the window.
        #expect(texts(state.read(maximumBytes: 49, 4)) == ["4: 49 bytes"])
        #expect(texts(state.read(maximumBytes: 1, 5)) == ["5: 1 bytes", "2: room 70", "3: room 50"])
        // A writer that does not wait for its answers is limited by the room that they would report.
        #expect(texts(state.write(bytes(50), isEnd: false, 6)) == [])
        #expect(texts(state.write(bytes(0), isEnd: false, 7)) == [])
        #expect(state.waitingBytes == 100)
    }

    @Test("More bytes than the room break the stream; earlier bytes can still be read")
    func exceeded() {
        var state = State(windowBytes: 100)
        #expect(texts(state.write(bytes(40), isEnd: false, 1)) == ["1: room 60"])
        #expect(texts(state.write(bytes(61), isEnd: false, 2)) == ["2: broken 0 by writer, over 60"])
        #expect(texts(state.write(bytes(1), isEnd: false, 3)) == ["3: broken 0 by writer, over 60"])
        #expect(texts(state.read(maximumBytes: 200, 4)) == ["4: 40 bytes"])
        #expect(texts(state.read(maximumBytes: 200, 5)) == ["5: broken 40 by writer, over 60"])
        #expect(state.isOver)
    }

    @Test("The number of unanswered writes is limited, also of writes without bytes")
    func crowded() {
        var state = State(windowBytes: 1)
        for waiter in 0..<64 { #expect(state.write(bytes(waiter == 0 ? 1 : 0), isEnd: false, waiter).isEmpty) }
        let answers = texts(state.write([], isEnd: false, 64))
        #expect(answers.count == 65 && answers.last == "64: broken 0 by writer, over 64 writes")
        #expect(answers.dropLast().allSatisfy { $0.hasSuffix("broken 0 by writer, over 64 writes") })
    }

    @Test("A count that differs from the written bytes breaks the stream")
    func miscounted() {
        var state = State(windowBytes: 100)
        _ = state.write(bytes(9), isEnd: false, 1)
        #expect(texts(state.complete(8, 2)) == ["2: broken 0 by writer, counted 8"])
        _ = state.read(maximumBytes: 9, 3)
        #expect(texts(state.read(maximumBytes: 9, 4)) == ["4: broken 9 by writer, counted 8"])
    }

    @Test("A reader that closes early stops the writer, and all waiting calls are answered")
    func readerLeaves() {
        var state = State(windowBytes: 100)
        _ = state.write(bytes(40), isEnd: false, 1)
        #expect(texts(state.write(bytes(11), isEnd: false, 2)) == [])
        #expect(texts(state.read(maximumBytes: 0, 3)) == ["3: 1 bytes", "2: room 50"])
        #expect(texts(state.write(bytes(1), isEnd: true, 4)) == [])
        #expect(texts(state.close(.reader, nil, 5)) == ["4: receipt 1 by reader", "5: receipt 1 by reader"])
        #expect(state.waitingBytes == 0 && state.isOver)
        #expect(texts(state.write([], isEnd: false, 6)) == ["6: closed"])
    }

    @Test("If a writer fails or disconnects, the reader gets the waiting bytes, then the writer's error")
    func writerLeaves() {
        var state = State(windowBytes: 100)
        _ = state.write(bytes(5), isEnd: false, 1)
        #expect(texts(state.leave(.writer, BridgeError(.internal, "no disk"))) == [])
        #expect(texts(state.read(maximumBytes: 9, 2)) == ["2: 5 bytes"])
        #expect(texts(state.read(maximumBytes: 9, 3)) == ["3: broken 5 by writer, internal"])
        #expect(state.isOver)
    }

    @Test("A writer can disconnect after it has closed; the stream still becomes complete")
    func writerGoesAfterClosing() {
        var state = State(windowBytes: 100)
        #expect(texts(state.write(bytes(5), isEnd: true, 1)) == [])
        state.forget { $0 == 1 }
        #expect(texts(state.leave(.writer, nil)) == [])
        _ = state.read(maximumBytes: 9, 2)
        #expect(texts(state.read(maximumBytes: 9, 3)) == ["3: end 5"])
        #expect(state.isOver)
    }

    @Test("A write whose call timed out stays written, and its room is given with a later answer")
    func forgotten() {
        var state = State(windowBytes: 100)
        #expect(texts(state.write(bytes(100), isEnd: false, 1)) == [])
        state.forget { $0 == 1 }
        #expect(texts(state.read(maximumBytes: 60, 2)) == ["2: 60 bytes"])
        #expect(texts(state.write([], isEnd: false, 3)) == ["3: room 60"])
        #expect(texts(state.write(bytes(60), isEnd: false, 4)) == [])
        #expect(state.waitingBytes == 100)
    }

    @Test("After the daemon has ended a stream, the next call of each side gets the reason")
    func daemonEnds() {
        var state = State(windowBytes: 100)
        _ = state.write(bytes(5), isEnd: false, 1)
        #expect(texts(state.end(BridgeError(.busy, "stops"))) == [])
        #expect(!state.isOver)
        #expect(texts(state.read(maximumBytes: 9, 2)) == ["2: broken 0 by daemon, busy"])
        #expect(texts(state.complete(nil, 3)) == ["3: receipt 0 by daemon, busy"])
        #expect(state.isOver)
    }
}
