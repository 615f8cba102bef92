import BridgeJSON
import ByteStreams
import TestSupport
import Testing

@Suite("The state of a reader on a pipe")
struct ReadPipeTests {
    /// Returns a name for a step.
    private func name(_ step: ReadPipe.Step) -> String {
        switch step {
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .all(let bytes): "all \(bytes)"
        case .failure(let error): error.code.rawValue
        case .wait(let forBytes): forBytes ? "wait for bytes" : "wait"
        }
    }

    private let failure = Result<UInt64, BridgeError>.failure(BridgeError(.streamClosed, "the writer left"))

    @Test("Reads available bytes, waits, and is complete if the count is right, whether or not the pipe ended")
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

    @Test("Bytes in the pipe come first, even if the daemon has already sent their count")
    func behind() {
        var pipe = ReadPipe()
        pipe.outcome = .success(3)
        #expect(name(pipe.next { [1, 2] }) == "2 bytes")
        // The last byte has not arrived yet.
        #expect(name(pipe.next { nil }) == "wait for bytes")
        #expect(name(pipe.next { [3] }) == "1 bytes")
        #expect(name(pipe.next { nil }) == "all 3")
    }

    @Test("A pipe that ends with too few bytes is an error")
    func cut() {
        var pipe = ReadPipe()
        _ = pipe.next { [1] }
        pipe.outcome = .success(2)
        #expect(name(pipe.next { [] }) == "stream.invalid")
    }

    @Test("An error comes after the bytes in the pipe, whether or not the pipe has ended")
    func failed() {
        for isEnded in [false, true] {
            var pipe = ReadPipe()
            pipe.outcome = failure
            #expect(name(pipe.next { [1] }) == "1 bytes")
            #expect(name(pipe.next { isEnded ? [] : nil }) == "stream.closed")
        }
    }

    @Test("Is complete only with every byte and waits only for a reason, in random sequences")
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
