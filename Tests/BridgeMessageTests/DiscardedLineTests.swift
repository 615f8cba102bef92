import Testing

@testable import BridgeMessage

struct DiscardedLineTests {
    @Test("A line that is discarded half way keeps its beginning, and the next line is complete")
    func aLineThatIsDiscardedHalf() {
        var splitter = MessageSplitter(maximumLineBytes: 1 << 20)
        var seen: [String] = []
        func feed(_ text: String) {
            let bytes = Array(text.utf8) + Array(repeating: 0, count: MessageSplitter.paddingBytes)
            bytes.withUnsafeBytes {
                _ = splitter.consume(UnsafeRawBufferPointer(rebasing: $0[..<text.utf8.count])) { line in
                    switch line {
                    case .line(let bytes): seen.append(String(decoding: bytes, as: UTF8.self))
                    case .tooLarge(let prefix, let lineBytes): seen.append("\(prefix.count) of \(lineBytes)")
                    }
                    return true
                }
            }
        }
        feed(String(repeating: "a", count: 100_000))
        splitter.discardLine()
        let isDiscarding = splitter.isDiscarding
        #expect(isDiscarding)
        let heldBytes = splitter.heldBytes
        #expect(heldBytes == MessageSplitter.keptPrefixBytes)
        feed(String(repeating: "b", count: 100_000))
        feed("\nnext\n")
        #expect(seen == ["65536 of 200000", "next"])
    }

    @Test("Nothing is discarded if no line is open")
    func whereThereIsNoLineNone() {
        var splitter = MessageSplitter(maximumLineBytes: 100)
        splitter.discardLine()
        let isDiscarding = splitter.isDiscarding
        #expect(!isDiscarding)
    }
}
