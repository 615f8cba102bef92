import BridgeMessage
import Testing

@Suite("Output that waits")
struct OutputBufferTests {
    /// Returns a text of this length that is different for each number.
    private func text(_ number: Int, bytes: Int) -> [UInt8] {
        Array("\(number):".utf8) + Array(repeating: UInt8(ascii: "a") + UInt8(number % 26), count: bytes)
    }

    private func append(_ bytes: [UInt8], to output: OutputBuffer) {
        bytes.withUnsafeBytes { output.append($0) }
    }

    /// Takes all bytes out, at most `bytesAtOnce` at a time.
    private func drain(_ output: OutputBuffer, bytesAtOnce: Int) -> [UInt8] {
        var drained: [UInt8] = []
        while !output.isEmpty {
            let written = output.bytes.prefix(bytesAtOnce)
            drained += written
            output.removeFirst(written.count)
        }
        return drained
    }

    @Test(
        "is taken in order, for any length and with more output appended meanwhile",
        arguments: [1_000, 70_000, 300_000])
    func order(bytes: Int) {
        let output = OutputBuffer()
        var expected: [UInt8] = []
        for number in 0..<20 {
            append(text(number, bytes: bytes), to: output)
            expected += text(number, bytes: bytes)
        }
        #expect(output.count == expected.count)
        #expect(output.copy() == expected)
        var drained = Array(output.bytes.prefix(100_001))
        output.removeFirst(drained.count)
        append(text(99, bytes: bytes), to: output)
        drained += drain(output, bytesAtOnce: 30_011)
        #expect(drained == expected + text(99, bytes: bytes))
        #expect(output.isEmpty && output.count == 0)
    }

    @Test("is not copied when more is appended, from a certain length on")
    func parts() {
        let output = OutputBuffer()
        append(text(0, bytes: 1_000_000), to: output)
        let start = output.bytes.baseAddress
        for number in 0..<1_000 { append(text(number, bytes: 10_000), to: output) }
        #expect(output.bytes.baseAddress == start)
    }

    @Test("moves behind the output of another buffer, and is not copied if it is long", arguments: [10, 1_000_000])
    func take(bytes: Int) {
        let output = OutputBuffer()
        let other = OutputBuffer()
        append(text(1, bytes: 10), to: output)
        for number in 2..<5 { append(text(number, bytes: bytes), to: other) }
        let start = other.bytes.baseAddress
        output.take(from: other)
        append(text(5, bytes: 10), to: output)
        #expect(other.isEmpty)
        let expected = text(1, bytes: 10) + (2..<5).flatMap { text($0, bytes: bytes) } + text(5, bytes: 10)
        #expect(output.copy() == expected)
        output.removeFirst(text(1, bytes: 10).count)
        #expect((output.bytes.baseAddress == start) == (bytes == 1_000_000))
        #expect(drain(output, bytesAtOnce: .max) == Array(expected.dropFirst(text(1, bytes: 10).count)))
        // Both buffers remain usable.
        append(text(6, bytes: 10), to: other)
        #expect(other.copy() == text(6, bytes: 10))
    }

    @Test("becomes one shared line from all its parts")
    func sharedLine() {
        let output = OutputBuffer()
        for number in 0..<5 { append(text(number, bytes: 200_000), to: output) }
        let line = SharedLine(output)
        // Long bytes are compared outside of the macro, which would print them.
        let isWhole = withExtendedLifetime(line) { Array(line.bytes) == output.copy() }
        #expect(isWhole)
        let empty = OutputBuffer()
        empty.lead(with: line)
        append(text(7, bytes: 3), to: empty)
        #expect(empty.copy() == output.copy() + text(7, bytes: 3))
    }

    @Test("continues after its last byte was removed")
    func removeLast() {
        let output = OutputBuffer()
        append(Array("ab\n".utf8), to: output)
        output.removeLast()
        append(Array("c".utf8), to: output)
        #expect(output.copy() == Array("abc".utf8))
    }

    @Test("passes a descriptor with the byte after it, and ends each piece before the next descriptor")
    func descriptors() {
        let buffer = OutputBuffer()
        buffer.append("one")
        buffer.pass(PassedDescriptor(adopting: -1))
        buffer.append("two")
        buffer.pass(PassedDescriptor(adopting: -2))
        buffer.append("three")
        func front() -> (String, Int32?) {
            let (bytes, passed) = buffer.front
            return (String(decoding: bytes, as: UTF8.self), passed?.descriptor)
        }
        #expect(front() == ("one", nil))
        buffer.removeFirst(2)
        #expect(front() == ("e", nil))
        buffer.removeFirst(1)
        #expect(front() == ("two", -1))
        // The descriptor was sent with the first byte.
        buffer.removeFirst(1)
        #expect(front() == ("wo", nil) && buffer.passedCount == 1)
        buffer.removeFirst(2)
        #expect(front() == ("three", -2))
        buffer.removeAll()
        #expect(buffer.passedCount == 0 && buffer.isEmpty)
    }
}
