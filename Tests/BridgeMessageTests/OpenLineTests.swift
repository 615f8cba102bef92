import BridgeJSON
import CBridgeJSON
import TestSupport
import Testing

@testable import BridgeMessage

@Suite("A line that takes several turns")
struct OpenLineTests {
    /// The result of a check of the grammar.
    private struct Found: Equatable {
        var root: UInt8 = 0
        var members: [[UInt32]] = []
        var fault: String?

        init(_ parse: () throws(GrammarError) -> ParsedLine) {
            do throws(GrammarError) {
                let parsed = try parse()
                root = parsed.root
                members = parsed.members.map {
                    [
                        $0.key_start, $0.key_length, $0.value_start, $0.value_length, UInt32($0.type),
                        $0.key_escaped ? 1 : 0, $0.value_escaped ? 1 : 0,
                    ]
                }
            } catch {
                fault = "\(error.offset): \(error.reason)"
            }
        }
    }

    /// Checks a text at once, and in steps of `stepBytes` bytes.
    private func check(_ text: [UInt8], stepBytes: Int, depth: Int = 128) -> (atOnce: Found, inSteps: Found) {
        withPadding(text) { bytes in
            var parser = LineParser()
            let atOnce = Found { () throws(GrammarError) in
                try parser.parse(parser.inCopy(of: bytes), maximumDepth: depth)
            }
            let empty = UnsafeRawBufferPointer(start: nil, count: 0)
            let walk = LineWalk(OwnedLine(copying: bytes, empty), maximumDepth: depth)
            while !walk.step(bytes: stepBytes) {}
            return (atOnce, Found { () throws(GrammarError) in try walk.parsed() })
        }
    }

    private static let stepBytes = [1, 2, 3, 7, 64, 4096]

    @Test("has the same members, or the same fault at the same position, as in one step", arguments: stepBytes)
    func grammar(stepBytes: Int) {
        let values = GrammarTests.allowed + GrammarTests.forbidden
        let texts = values + values.map { #"{"a":"# + $0 + #", "b\n":[1,{}]}"# } + values.map { " [ " + $0 + ",0]" }
        for text in texts + recordedTraffic {
            let (atOnce, inSteps) = check(Array(text.utf8), stepBytes: stepBytes)
            #expect(inSteps == atOnce, "\(text)")
        }
    }

    @Test("has the same result as in one step if it is mutated", arguments: 0..<20 as Range<UInt64>)
    func mutations(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for line in recordedTraffic {
            for _ in 0..<50 {
                let bytes = generator.mutate(Array(line.utf8), changes: 1...3)
                let stepBytes = Self.stepBytes.randomElement(using: &generator) ?? 1
                let (atOnce, inSteps) = check(bytes, stepBytes: stepBytes)
                #expect(inSteps == atOnce, "\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    @Test("may be nested as deep as in one step", arguments: [1, 2, 127, 128, 129, 1024, 1025])
    func depth(levels: Int) {
        let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        for depth in [1, 128, 2000] {
            let (atOnce, inSteps) = check(Array(text.utf8), stepBytes: 10, depth: depth)
            #expect(inSteps == atOnce, "\(levels) of \(depth)")
        }
    }

    @Test(
        "needs steps in proportion to its bytes, whatever it consists of",
        arguments: ["0,", "1", "\\u0041", "é", " ", "[],", "\"\",", "true,"])
    func stepsAreShort(part: String) {
        let quotes = part == "\\u0041" || part == "é" ? "\"" : ""
        let text = "[" + quotes + String(repeating: part, count: 100_000) + quotes + "]"
        withPadding(Array(text.utf8)) { bytes in
            let empty = UnsafeRawBufferPointer(start: nil, count: 0)
            let walk = LineWalk(OwnedLine(copying: bytes, empty), maximumDepth: 128)
            var steps = 1
            while !walk.step(bytes: 1000) { steps += 1 }
            // An escape may extend past the end of a step.
            #expect(steps >= text.utf8.count / 1010)
        }
    }

    // MARK: Messages

    @Test("contains the same messages as in one step", arguments: recordedTraffic + ["[]", "[7]", "  [ ] ", "", " "])
    func messages(line: String) {
        #expect(decodeInSteps(line).items == decode(line))
    }

    @Test("reports before a batch's first item whether it is a batch of JSON-RPC")
    func kinds() {
        let rpc = #"{"jsonrpc":"2.0","method":"m","id":1}"#
        let long = #"{"jsonrpc":"2.0","method":"m","params":{"a":"\#(String(repeating: "x", count: 40_000))"}}"#
        #expect(decodeInSteps("[\(rpc),7]").isRPC == true)
        #expect(decodeInSteps("[\(long),7]").isRPC == true)
        #expect(decodeInSteps(#"[{"task":"a"},\#(rpc)]"#).isRPC == false)
        #expect(decodeInSteps("[7,\(rpc)]").isRPC == .some(nil))
        #expect(decodeInSteps(rpc).isRPC == nil)
    }

    @Test("is processed in steps within a long item of a batch, and continues after it")
    func longItem() {
        let options = "[" + String(repeating: "0,", count: 40_000) + "0]"
        let line = #"[{"task":"a"},{"task":"b","options":\#(options)},{"task":"c"},{"task":"d","options":\#(options)}]"#
        #expect(decodeInSteps(line).items == [call("a"), call("b", options), call("c"), call("d", options)])
        let deep = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        let broken = #"[{"task":"b","x":\#(options),"options":\#(deep)},{"task":"c"}]"#
        #expect(decodeInSteps(broken).items == decode(broken))
    }

    @Test("is handed over to another daemon whole, or as its remaining items")
    func rest() {
        let decoder = MessageDecoder()
        var splitter = MessageSplitter(maximumLineBytes: 1 << 24)
        let line = #"[{"task":"a"}, {"task":"b"},{"task":"c"}]"#
        let open = withPadding(Array(line.utf8)) { decoder.open($0, of: &splitter) }
        #expect(open.rest == Array(line.utf8) + [0x0A])
        loop: while true {
            switch decoder.advance(open) {
            case .step, .batch: #expect(open.rest == Array(line.utf8) + [0x0A])
            case .item: break loop
            case .finished: break loop
            }
        }
        // The remaining items are separate lines, because the first item has determined the kind of the batch.
        #expect(open.rest == Array(#"{"task":"b"}"#.utf8) + [0x0A] + Array(#"{"task":"c"}"#.utf8) + [0x0A])
    }

    @Test("is handed over as separate lines if it was the rest of a batch, also before its first step")
    func restOfBatch() throws {
        let decoder = MessageDecoder()
        let line = Array(#"[{"task":"a"},{"task":"b"},{"task":"c"}]"#.utf8)
        let offset = try #require(line.firstRange(of: Array(#"{"task":"b"#.utf8))?.lowerBound)
        for steps in 0...1 {
            let open = withPadding(line) { decoder.open(restOf: $0, from: offset) }
            for _ in 0..<steps { _ = decoder.advance(open) }
            #expect(open.rest == Array(#"{"task":"b"}"#.utf8) + [0x0A] + Array(#"{"task":"c"}"#.utf8) + [0x0A])
        }
    }

    @Test("is moved out of a splitter that held it, and copied otherwise")
    func splitter() {
        let decoder = MessageDecoder()
        var splitter = MessageSplitter(maximumLineBytes: 1 << 24)
        let lines = #"{"task":"a"}"# + "\r\n" + #"{"task":"b"}"# + "\n" + #"{"task":"c"}"# + "\n"
        var tasks: [Decoded] = []
        for piece in [lines.prefix(8), lines.dropFirst(8)] {
            withPadding(Array(piece.utf8)) { bytes in
                var start = 0
                while case .line(let line)? = splitter.nextLine(of: bytes, from: &start) {
                    let open = decoder.open(line, of: &splitter)
                    #expect(splitter.heldBytes == 0)
                    while true {
                        let advance = decoder.advance(open)
                        if case .item(let item) = advance { tasks.append(Decoded(item)) }
                        if case .finished = advance { break }
                    }
                }
            }
        }
        #expect(tasks == [call("a"), call("b"), call("c")])
    }

    @Test("is reported as deep, and is refused if that is not allowed")
    func deep() {
        let options = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        let line = #"{"task":"t","options":\#(options)}"#
        #expect(decodeInSteps(line).items == [.problem(code: .messageInvalid, id: nil)])
        #expect(decodeInSteps("[" + line + "]").items == [.problem(code: .messageInvalid, id: nil)])
        let decoder = MessageDecoder(extraDepth: 1)
        var splitter = MessageSplitter(maximumLineBytes: 1 << 24)
        for (text, isDeep) in [(line, true), (#"{"task":"t"}"#, false), (#"[{"task":"t"}]"#, false)] {
            let open = withPadding(Array(text.utf8)) { decoder.open($0, of: &splitter) }
            while case .step = decoder.advance(open) {}
            #expect(decoder.isDeep == isDeep)
        }
    }
}
