import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@Suite("The encoder")
struct MessageEncoderTests {
    private func encoded(_ body: (OutputBuffer) -> Void) -> String {
        let output = OutputBuffer()
        body(output)
        return String(decoding: output.bytes, as: UTF8.self)
    }

    private func bytes(_ text: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        Array(text.utf8).withUnsafeBytes(body)
    }

    @Test("A result is one line with the id and the result unchanged")
    func result() {
        let line = encoded { output in
            bytes(#""a\u0041""#) { id in
                bytes(#"{"n":1.50}"#) { MessageEncoder.callback(id: id, result: $0, to: output) }
            }
        }
        #expect(line == #"{"callbackId":"a\u0041","result":{"n":1.50}}"# + "\n")
    }

    @Test("Line breaks between the tokens of a result become spaces")
    func oneLine() {
        let line = encoded { output in
            bytes("1") { id in
                bytes("{\n  \"a\": 1\n}") { MessageEncoder.callback(id: id, result: $0, to: output) }
            }
        }
        #expect(line == "{\"callbackId\":1,\"result\":{   \"a\": 1 }}\n")
    }

    @Test("An error without an id has the id null")
    func errorWithoutID() {
        let line = encoded { MessageEncoder.callback(id: nil, error: BridgeError(.busy, "later"), to: $0) }
        #expect(line.hasPrefix(#"{"callbackId":null,"error":{"code":"busy","message":"later""#))
        #expect(line.hasSuffix("}}\n"))
    }

    @Test(
        "A number is written with all its digits",
        arguments: [0, 9, 10, 99, 100, 12_345, 9_007_199_254_740_991, 9_999_999_999_999_999_999, .max] as [UInt64])
    func decimal(_ number: UInt64) {
        #expect(encoded { MessageEncoder.cancel(id: number, to: $0) } == "{\"cancel\":\(number)}\n")
    }

    @Test("A call is decoded as it was encoded")
    func roundTrip() {
        let line = encoded { output in
            bytes(#""a \"b\"""#) { task in
                bytes("[1,2]") { options in
                    var call = OutgoingCall(quotedTask: task, options: options)
                    call.id = 7
                    call.setTimeout(.microseconds(1500))
                    call.wantsProgress = true
                    call.session = 3
                    MessageEncoder.call(call, to: output)
                }
            }
        }
        #expect(
            decode(String(line.dropLast()))
                == [call("a \"b\"", "[1,2]", id: "7", timeout: .milliseconds(2), progress: true, session: 3)])
    }

    @Test("Progress, event and cancel are decoded as they were encoded")
    func others() {
        let lines = encoded { output in
            bytes("\"x\"") { id in
                bytes("0.5") { MessageEncoder.progress(id: id, value: $0, sequence: 18, to: output) }
            }
            bytes("{}") { MessageEncoder.event(name: "a.b", data: $0, to: output) }
            MessageEncoder.cancel(id: 99, to: output)
        }
        #expect(
            lines.split(separator: "\n").flatMap { decode(String($0)) }
                == [
                    .progress(id: "\"x\"", value: "0.5", sequence: 18), .event(name: "a.b", data: "{}"),
                    .cancel(id: "99"),
                ])
    }

    @Test("Output that is taken in pieces is complete and in order", arguments: 0..<20 as Range<UInt64>)
    func outputBuffer(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let output = OutputBuffer()
        var expected: [UInt8] = []
        var taken: [UInt8] = []
        for _ in 0..<400 {
            if Bool.random(using: &generator) {
                let part = (0..<Int.random(in: 0...3000, using: &generator)).map { UInt8(truncatingIfNeeded: $0) }
                part.withUnsafeBytes { output.append($0) }
                expected += part
            } else {
                let count = Int.random(in: 0...output.count, using: &generator)
                taken += output.bytes.prefix(count)
                output.removeFirst(count)
            }
            #expect(output.count == expected.count - taken.count)
        }
        taken += output.bytes
        #expect(taken == expected)
    }
}
