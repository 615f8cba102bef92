import HTTPRules
import TestSupport
import Testing

@Suite struct RangeTests {
    @Test("A single range is read and written")
    func reads() {
        #expect(ByteRange("bytes=0-499") == .bounds(first: 0, last: 499))
        #expect(ByteRange("Bytes= 5- ") == .bounds(first: 5, last: nil))
        #expect(ByteRange("bytes=-500") == .suffix(500))
        for text in ["bytes=0-499", "bytes=5-", "bytes=-500"] { #expect(ByteRange(text)?.text == text) }
        let huge = String(repeating: "9", count: 400)
        #expect(ByteRange("bytes=0-\(huge)") == .bounds(first: 0, last: .max))
    }

    @Test(
        "Several ranges, other units and malformed text are refused",
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=1-0", "bytes=0-1,3-4", "items=0-1", "bytes=a-b", "bytes=0-1x",
            "bytes 0-1", "bytes=--1", "bytes=+0-1",
        ])
    func refuses(_ text: String) { #expect(ByteRange(text) == nil) }

    @Test("A range resolves to bytes of the body, or to none")
    func resolves() {
        #expect(ByteRange.bounds(first: 0, last: 4).resolved(length: 10) == 0..<5)
        #expect(ByteRange.bounds(first: 5, last: .max).resolved(length: 10) == 5..<10)
        #expect(ByteRange.bounds(first: 9, last: nil).resolved(length: 10) == 9..<10)
        #expect(ByteRange.suffix(3).resolved(length: 10) == 7..<10)
        #expect(ByteRange.suffix(.max).resolved(length: 10) == 0..<10)
        #expect(ByteRange.bounds(first: 10, last: nil).resolved(length: 10) == nil)
        #expect(ByteRange.bounds(first: .max, last: .max).resolved(length: .max) == nil)
        #expect(ByteRange.suffix(0).resolved(length: 10) == nil && ByteRange.suffix(5).resolved(length: 0) == nil)
    }

    @Test("Content-Range is read and written; malformed and conflicting values are refused")
    func contentRange() {
        #expect(ContentRange("bytes 0-4/10") == ContentRange(range: 0..<5, length: 10))
        #expect(ContentRange("bytes 0-4/*") == ContentRange(range: 0..<5, length: nil))
        #expect(ContentRange("BYTES */10") == ContentRange(range: nil, length: 10))
        for text in ["bytes 0-4/10", "bytes 0-4/*", "bytes */10"] { #expect(ContentRange(text)?.text == text) }
        let huge = String(repeating: "9", count: 400)
        for text in [
            "", "bytes", "bytes 4-0/10", "bytes 0-10/10", "bytes */*", "bytes 0-4/", "bytes 0-4", "items 0-4/10",
            "bytes 0-\(huge)/*", "bytes 0-4/10 ", "bytes=0-4/10", "bytes 0-4/x",
        ] { #expect(ContentRange(text) == nil, "\(text)") }
        #expect(ContentRange(fields(("Content-Range", "bytes 0-4/10"), ("content-range", "bytes 0-4/10"))) != nil)
        #expect(ContentRange(fields(("Content-Range", "bytes 0-4/10"), ("content-range", "bytes 1-4/10"))) == nil)
    }

    private func held(_ status: Int, _ list: HeaderList, _ bytes: Int64, _ isFinished: Bool = true) -> HeldBytes? {
        HeldBytes(status: status, fields: list, receivedBytes: bytes, isFinished: isFinished)
    }

    @Test("A finished body is whole; a cut body holds its beginning")
    func whole() {
        #expect(held(200, HeaderList(), 10) == .complete(length: 10) && held(200, HeaderList(), 0)?.isComplete == true)
        let cut = held(200, fields(("Content-Length", "10")), 4, false)
        #expect(cut?.isComplete == false && cut?.length == 10 && cut?.missing == .bounds(first: 4, last: nil))
        #expect(held(200, fields(("Content-Length", "x")), 4, false)?.length == nil)
        #expect(held(200, HeaderList(), 0, false) == nil)
    }

    @Test("A piece holds the bytes received; one longer than its range is refused")
    func piece() {
        let list = fields(("Content-Range", "bytes 4-9/10"))
        #expect(held(206, list, 6)?.pieces == [4..<10] && held(206, list, 5, false)?.pieces == [4..<9])
        #expect(held(206, list, 7) == nil && held(206, list, 0) == nil && held(206, HeaderList(), 5) == nil)
        #expect(held(206, list, .max) == nil)
        #expect(held(206, fields(("Content-Range", "bytes 0-9/10")), 10)?.isComplete == true)
    }

    @Test("Pieces are joined, and the missing range is computed")
    func joins() throws {
        let first = try #require(held(206, fields(("Content-Range", "bytes 0-1/10")), 2))
        #expect(first.missing == .bounds(first: 2, last: nil))
        let two = try #require(first.adding(8..<10, length: nil))
        #expect(two.pieces == [0..<2, 8..<10] && two.missing == .bounds(first: 2, last: 7))
        let three = try #require(two.adding(4..<6, length: 10))
        #expect(three.missing == .bounds(first: 2, last: 7) && !three.contains(1..<5))
        let all = try #require(three.adding(2..<8, length: 10))
        #expect(all.isComplete && all.missing == nil && all.contains(0..<10))
        #expect(first.adding(0..<1, length: 11) == nil && first.adding(5..<11, length: 10) == nil)
        #expect(first.adding(2..<2, length: nil) == first)
    }

    @Test("Too many pieces are not kept")
    func tooMany() throws {
        var held = try #require(self.held(206, fields(("Content-Range", "bytes 0-0/*")), 1))
        for index in 1..<Int64(HeldBytes.maximumPieces) {
            held = try #require(held.adding(index * 2..<index * 2 + 1, length: nil))
        }
        #expect(held.adding(1_000..<1_001, length: nil) == nil)
        #expect(held.adding(1..<2, length: nil)?.pieces.count == HeldBytes.maximumPieces - 1)
    }

    @Test("Held bytes are read back from their text; other text is refused")
    func text() throws {
        let list = fields(("Content-Range", "bytes 0-3/10"))
        let two = try #require(held(206, list, 4)?.adding(8..<10, length: nil))
        #expect(two.text == "0-3,8-9/10")
        for held in [two, .nothing, .complete(length: 0), .complete(length: 5)] {
            #expect(HeldBytes(text: held.text) == held)
        }
        for text in ["", "/", "0-3", "3-0/10", "0-3,4-5/10", "8-9,0-3/10", "0-3/2", "0-3,/10", "00-3/10", "0-3/10 "] {
            #expect(HeldBytes(text: text) == nil, "\(text)")
        }
    }

    @Test("Joined pieces are the union of their bytes, in any order")
    func union() throws {
        var generator = SeededGenerator(seed: 206)
        for _ in 0..<500 {
            var held: HeldBytes?
            var bytes = Set<Int64>()
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let start = Int64.random(in: 0..<60, using: &generator)
                let end = Int64.random(in: start + 1...64, using: &generator)
                bytes.formUnion(start..<end)
                let place = ContentRange(range: start..<end, length: 64).text
                let piece = self.held(206, fields(("Content-Range", place)), end - start)
                held = held == nil ? piece : held?.adding(start..<end, length: 64)
            }
            #expect(Set(held?.pieces.flatMap(Array.init) ?? []) == bytes)
            #expect(held?.isComplete == (bytes.count == 64))
            #expect(
                zip(held?.pieces ?? [], held?.pieces.dropFirst() ?? []).allSatisfy { $0.upperBound < $1.lowerBound })
        }
    }

    @Test("Mutated ranges never trap")
    func mutated() {
        var generator = SeededGenerator(seed: 14)
        for _ in 0..<3_000 {
            let alphabet = Array("0123456789-/*=, ".utf8)
            let range = FieldText.decode(
                generator.mutate(Array("bytes=9223372036854775807-9223372036854775807".utf8), alphabet: alphabet))
            if let read = ByteRange(range) { _ = (read.resolved(length: 10), read.resolved(length: .max)) }
            let place = FieldText.decode(
                generator.mutate(Array("bytes 0-9223372036854775806/9223372036854775807".utf8), alphabet: alphabet))
            if let read = ContentRange(place) { #expect(ContentRange(read.text) == read) }
        }
    }
}
