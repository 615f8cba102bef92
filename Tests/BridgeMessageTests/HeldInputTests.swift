import BridgeMessage
import TestSupport
import Testing

@Suite("Input that waits")
struct HeldInputTests {
    @Test("Bytes are taken in the order in which they were added, in any portions", arguments: 0..<50)
    func order(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var held = HeldInput()
        var expected: [UInt8] = []
        for _ in 0..<200 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                let bytes = (0..<Int.random(in: 0...300, using: &generator)).map { UInt8(truncatingIfNeeded: $0) }
                held.append(bytes)
                expected += bytes
            case 1:
                let count = Int.random(in: 0...held.count, using: &generator)
                held.removeFirst(count)
                expected.removeFirst(count)
            case 2:
                // A part is handled while more input arrives.
                var taken = held.take()
                #expect(held.isEmpty)
                let count = Int.random(in: 0...taken.count, using: &generator)
                taken.removeFirst(count)
                held.append([1, 2])
                held.putBack(taken)
                expected = Array(expected[count...]) + [1, 2]
            default:
                held = HeldInput(held.copy)
            }
            #expect(held.count == expected.count)
            #expect(held.isEmpty == expected.isEmpty)
            #expect(held.copy == expected)
        }
    }

    @Test("The bytes after the end are readable and zero")
    func padding() {
        var held = HeldInput([1, 2, 3])
        held.append([4])
        held.removeFirst(1)
        held.withBytes { bytes in
            #expect(Array(bytes) == [2, 3, 4])
            let behind = UnsafeRawBufferPointer(
                start: bytes.baseAddress.map { $0 + bytes.count }, count: MessageSplitter.paddingBytes)
            #expect(behind.allSatisfy { $0 == 0 })
        }
    }
}
