import TestSupport
import Testing

@Suite("Streams with events in any order")
struct StreamPlayTests {
    @Test(
        "The reader gets a prefix of the written bytes, complete means all of them, and each call ends once",
        arguments: 0..<500 as Range<UInt64>)
    func property(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try FuzzTarget.streams.run((0..<1_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
