import TestSupport
import Testing

@Suite("Streams, in any order of events")
struct StreamPlayTests {
    @Test(
        "Bytes are a beginning of what was written, complete means all, and each call ends once",
        arguments: 0..<500 as Range<UInt64>)
    func property(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try FuzzTarget.streams.run((0..<1_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
