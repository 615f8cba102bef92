import TestSupport
import Testing

@testable import TaskRuntime

@Suite("Colliding names cannot be computed in advance")
struct NameHashTests {
    private static let slots: UInt64 = 1_024

    private static func slot(of name: String, _ seed: NameHash.Seed) -> UInt64 {
        Array(name.utf8).withUnsafeBytes { NameHash.hash(of: $0, seed) } % slots
    }

    @Test("Each table has its own seed")
    func seeds() {
        let seeds = (0..<64).map { _ in TaskRegistry().seed }
        #expect(Set(seeds.map(\.first)).count == 64)
        #expect(Set(seeds.map(\.second)).count == 64)
    }

    @Test("Names that share a slot under one seed are spread under another")
    func collisions() throws {
        let (known, other) = (TaskRegistry().seed, TaskRegistry().seed)
        let names = (0..<65_536).lazy.map { "session.task.\($0)" }.filter { Self.slot(of: $0, known) == 7 }.prefix(48)
        #expect(names.count >= 32)
        let slots = Set(names.map { Self.slot(of: $0, other) })
        // 48 names in 1,024 slots occupy about 47 slots.
        #expect(slots.count >= names.count * 3 / 4, "\(slots.count) of \(names.count)")
    }

    @Test("Every part of a name affects its hash: its length, and each byte of each word")
    func parts() {
        let seed = NameHash.Seed.random()
        let names =
            [String(repeating: "\0", count: 1), "\0\0"]
            + (0..<24).flatMap { index in
                ["a", "b", "\0"].map { letter in
                    String(repeating: "x", count: index) + letter + String(repeating: "x", count: 23 - index)
                }
            }
        let hashes = names.map { name in Array(name.utf8).withUnsafeBytes { NameHash.hash(of: $0, seed) } }
        #expect(Set(hashes).count == names.count)
    }
}
