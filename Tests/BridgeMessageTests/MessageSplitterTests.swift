import BridgeMessage
import TestSupport
import Testing

@Suite("The splitter")
struct MessageSplitterTests {
    private let stream = Array((recordedTraffic.joined(separator: "\n") + "\n").utf8)
    private var lines: [Piece] { recordedTraffic.map { .line($0) } }

    @Test("Lines are the same wherever the stream is cut in two")
    func everySplitInTwo() {
        for cut in 0...stream.count {
            #expect(split(stream, sizes: [cut]) == lines, "cut at \(cut)")
        }
    }

    @Test("Lines are the same if the stream arrives byte by byte")
    func byteByByte() {
        #expect(split(stream, sizes: Array(repeating: 1, count: stream.count)) == lines)
    }

    @Test("Lines are the same in random pieces", arguments: 0..<50 as Range<UInt64>)
    func randomPieces(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let sizes = (0..<stream.count).map { _ in Int.random(in: 1...90, using: &generator) }
        #expect(split(stream, sizes: sizes) == lines)
    }

    @Test("Another splitter continues wherever the stream is cut, also with long lines", arguments: [20, 1000])
    func handedOver(limit: Int) {
        // The kept prefix of a line that is too long depends on the pieces in which the line arrives.
        func comparable(_ pieces: [Piece]) -> [Piece] {
            pieces.map { piece in
                guard case .tooLarge(_, let lineBytes) = piece else { return piece }
                return .tooLarge(prefix: "", lineBytes: lineBytes)
            }
        }
        let whole = comparable(split(stream, limit: limit))
        for cut in 0...stream.count {
            var first = MessageSplitter(maximumLineBytes: limit)
            var second = MessageSplitter(maximumLineBytes: limit)
            var pieces: [Piece] = []
            func feed(_ part: ArraySlice<UInt8>, _ splitter: inout MessageSplitter) {
                withPadding(Array(part)) { piece in
                    _ = splitter.consume(piece) {
                        pieces.append(Piece($0))
                        return true
                    }
                }
            }
            feed(stream[..<cut], &first)
            second.resume(first.unfinished)
            feed(stream[cut...], &second)
            #expect(comparable(pieces) == whole, "cut at \(cut)")
        }
    }

    @Test("A splitter with a lower limit discards the rest of the line, and reports its length")
    func handedToALowerLimit() {
        var splitter = MessageSplitter(maximumLineBytes: 10)
        splitter.resume(UnfinishedLine(bytes: Array(repeating: UInt8(ascii: "x"), count: 50)))
        var pieces: [Piece] = []
        withPadding(Array("yz\nnext\n".utf8)) { piece in
            _ = splitter.consume(piece) {
                pieces.append(Piece($0))
                return true
            }
        }
        #expect(pieces.last == .line("next"))
        guard case .tooLarge(_, let lineBytes) = pieces.first else {
            Issue.record("the line was taken: \(pieces)")
            return
        }
        #expect(lineBytes == 52)
    }

    @Test("CRLF ends a line like LF, and an empty line is ignored")
    func lineEnds() {
        #expect(split(Array("a\r\n\r\n\nb\n".utf8)) == [.line("a"), .line("b")])
        #expect(split(Array("a\r\n".utf8), sizes: [2]) == [.line("a")])
    }

    @Test("An empty line is ignored wherever it is cut, and does not change the lines around it")
    func emptyLineInPieces() {
        let stream = Array("a\r\n\r\n\r\nbcd\r\n\nef\n".utf8)
        for first in 0...stream.count {
            for second in 0...(stream.count - first) {
                let pieces = split(stream, sizes: [first, second])
                #expect(pieces == [.line("a"), .line("bcd"), .line("ef")], "cut at \(first) and \(second) further on")
            }
        }
    }

    @Test("A carriage return within a line is kept")
    func innerCarriageReturn() {
        #expect(split(Array("a\rb\n".utf8)) == [.line("a\rb")])
    }

    @Test("A line of the limit's length is accepted, with LF or CRLF; one byte more is not", arguments: [1, 7, 100])
    func limit(size: Int) {
        let line = String(repeating: "x", count: 100)
        for sizes in [[], Array(repeating: size, count: 300)] {
            #expect(split(Array((line + "\n").utf8), sizes: sizes, limit: 100) == [.line(line)])
            #expect(split(Array((line + "\r\n").utf8), sizes: sizes, limit: 100) == [.line(line)])
            #expect(
                split(Array((line + "y\n").utf8), sizes: sizes, limit: 100)
                    == [.tooLarge(prefix: line + "y", lineBytes: 101)])
        }
    }

    @Test("A new limit applies to the line that is being read, wherever it was cut", arguments: [1, 50, 99, 150, 199])
    func anotherLimit(cut: Int) {
        let line = String(repeating: "x", count: 200)
        let stream = Array((line + "\nnext\n").utf8)
        #expect(split(stream, sizes: [cut], limit: 1_000, laterLimit: 200) == [.line(line), .line("next")])
        #expect(
            split(stream, sizes: [cut], limit: 1_000, laterLimit: 100)
                == [.tooLarge(prefix: line, lineBytes: 200), .line("next")])
        // A line that is already being discarded stays discarded.
        let isGone = cut > 101
        #expect(
            split(stream, sizes: [cut], limit: 100, laterLimit: 1_000)
                == [isGone ? .tooLarge(prefix: String(line.prefix(cut)), lineBytes: 200) : .line(line), .line("next")])
    }

    @Test("A line that is too long is reported once, at its end, and the next one is intact")
    func tooLong() {
        let long = String(repeating: "y", count: 300_000)
        let pieces = split(Array((long + "\nnext\n").utf8), sizes: Array(repeating: 999, count: 400), limit: 1000)
        #expect(pieces.count == 2)
        guard case .tooLarge(let prefix, let lineBytes) = pieces[0] else {
            Issue.record("the line was not reported as too long: \(pieces[0])")
            return
        }
        #expect(lineBytes == 300_000)
        #expect(long.hasPrefix(prefix) && prefix.utf8.count <= MessageSplitter.keptPrefixBytes)
        #expect(pieces[1] == .line("next"))
    }

    @Test("The end of the input ends the last line")
    func endOfInput() {
        #expect(split(Array("a\nb".utf8), endsInput: true) == [.line("a"), .line("b")])
        #expect(split(Array("a\n".utf8), endsInput: true) == [.line("a")])
    }

    @Test("The rest is left for later if the handler stops")
    func stopping() {
        var splitter = MessageSplitter(maximumLineBytes: 100)
        var seen: [String] = []
        let bytes = Array("one\ntwo\nthree\n".utf8)
        let taken = withPadding(bytes) { piece in
            splitter.consume(piece) { line in
                if case .line(let text) = line { seen.append(String(decoding: text, as: UTF8.self)) }
                return seen.count < 2
            }
        }
        #expect(seen == ["one", "two"])
        #expect(taken == 8)
        let holdsPart = splitter.holdsPartOfLine
        #expect(!holdsPart)
    }

    @Test("The padding after every line is readable")
    func padding() {
        var splitter = MessageSplitter(maximumLineBytes: 100)
        for piece in ["{\"a\":", "1}\n"] {
            _ = withPadding(Array(piece.utf8)) { bytes in
                splitter.consume(bytes) { line in
                    guard case .line(let text) = line else { return false }
                    let padded = UnsafeRawBufferPointer(
                        start: text.baseAddress, count: text.count + MessageSplitter.paddingBytes)
                    #expect(padded.reduce(into: 0) { $0 += Int($1) } >= 0)
                    return true
                }
            }
        }
    }
}
