import BridgeJSON
import ByteStreams
import TestSupport
import Testing

@Suite("A reader whose end is a pipe")
struct ReadPipeTests {
    /// What the steps are called here.
    private func name(_ step: ReadPipe.Step) -> String {
        switch step {
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .all(let bytes): "all \(bytes)"
        case .failure(let error): error.code.rawValue
        case .wait(let forBytes): forBytes ? "wait for bytes" : "wait"
        }
    }

    private let failure = Result<UInt64, BridgeError>.failure(BridgeError(.streamClosed, "the writer left"))

    @Test("It reads what is there, waits, and has all where the count is right, whether the pipe has ended or not")
    func complete() {
        for isEnded in [false, true] {
            var pipe = ReadPipe()
            #expect(name(pipe.next { nil }) == "wait for bytes")
            #expect(name(pipe.next { [1, 2] }) == "2 bytes")
            #expect(name(pipe.next { isEnded ? [] : nil }) == (isEnded ? "wait" : "wait for bytes"))
            pipe.outcome = .success(2)
            #expect(name(pipe.next { [9] }) == "all 2")
        }
    }

    @Test("Bytes that are still in the pipe come first, when the daemon has said how many there are")
    func behind() {
        var pipe = ReadPipe()
        pipe.outcome = .success(3)
        #expect(name(pipe.next { [1, 2] }) == "2 bytes")
        // The last one is on its way.
        #expect(name(pipe.next { nil }) == "wait for bytes")
        #expect(name(pipe.next { [3] }) == "1 bytes")
        #expect(name(pipe.next { nil }) == "all 3")
    }

    @Test("A pipe that ends with fewer bytes than there are is an error")
    func cut() {
        var pipe = ReadPipe()
        _ = pipe.next { [1] }
        pipe.outcome = .success(2)
        #expect(name(pipe.next { [] }) == "stream.invalid")
    }

    @Test("An error comes behind the bytes that are in the pipe, whether that has ended or not")
    func failed() {
        for isEnded in [false, true] {
            var pipe = ReadPipe()
            pipe.outcome = failure
            #expect(name(pipe.next { [1] }) == "1 bytes")
            #expect(name(pipe.next { isEnded ? [] : nil }) == "stream.closed")
        }
    }

    @Test("Whatever comes in which order, it never has all but with every byte, and never waits without a reason")
    func anything() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            var (pipe, inPipe, isEnded) = (ReadPipe(), 0, false)
            let total = Int.random(in: 0...20, using: &random)
            var (written, read, isOver) = (0, 0, false)
            var outcome: Result<UInt64, BridgeError>?
            while !isOver {
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where written < total && !isEnded:
                    written += 1
                    inPipe += 1
                case 1 where outcome == nil && written == total: outcome = .success(UInt64(total))
                case 2 where outcome == nil && Int.random(in: 0..<8, using: &random) == 0:
                    (outcome, isEnded) = (failure, true)
                case 3 where written == total: isEnded = true
                default: break
                }
                pipe.outcome = outcome
                let step = pipe.next {
                    defer { inPipe = 0 }
                    return inPipe > 0 ? Array(repeating: 0, count: inPipe) : isEnded ? [] : nil
                }
                switch step {
                case .bytes(let bytes): read += bytes.count
                case .all(let bytes):
                    isOver = true
                    #expect(read == total && bytes == UInt64(total))
                case .failure(let error):
                    isOver = true
                    #expect(error.code == .streamClosed && read == written)
                case .wait(let forBytes): #expect(forBytes ? !isEnded : isEnded && outcome == nil)
                }
            }
        }
    }
}
