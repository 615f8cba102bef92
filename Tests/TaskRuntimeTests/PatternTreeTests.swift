import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("A pattern tree finds the same patterns as a search of all patterns")
struct PatternTreeTests {
    private static let letters = ["a", "b", "."]

    private func name(_ generator: inout some RandomNumberGenerator) -> String {
        (0..<Int.random(in: 1...6, using: &generator)).map { _ in
            Self.letters.randomElement(using: &generator) ?? "a"
        }.joined()
    }

    @Test("after random insertions and removals", arguments: 1...20 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let tree = PatternTree<Int>()
        var entries: [(pattern: EventPattern, entry: PatternTree<Int>.Entry)] = []
        for number in 0..<400 {
            if !entries.isEmpty, Bool.random(using: &generator) {
                let index = Int.random(in: entries.indices, using: &generator)
                tree.remove(entries.remove(at: index).entry)
            } else {
                let text = name(&generator) + (Bool.random(using: &generator) ? "*" : "")
                let pattern = try #require(EventPattern(text))
                entries.append((pattern, tree.insert(number, pattern)))
            }
            let wanted = name(&generator)
            var found: [Int] = []
            tree.forEach(matching: wanted) { found.append($0) }
            let expected = entries.filter { $0.pattern.matches(wanted) }.map(\.entry.element)
            #expect(found.sorted() == expected.sorted(), "\(wanted), seed \(seed)")
        }
        for (_, entry) in entries { tree.remove(entry) }
        #expect(!tree.matches("a"))
    }

    @Test("The pattern * matches every name, and names are compared byte by byte")
    func edges() throws {
        let tree = PatternTree<Int>()
        _ = tree.insert(1, try #require(EventPattern("*")))
        _ = tree.insert(2, try #require(EventPattern("e")))
        var found: [Int] = []
        tree.forEach(matching: "e\u{301}") { found.append($0) }
        #expect(found == [1])
    }

    @Test("A search visits at most one node more than the name has bytes, for any number of patterns")
    func visits() throws {
        let tree = PatternTree<Int>()
        var visits: [Int] = []
        for number in 0..<16_384 {
            // Patterns of each length, and many that differ from them at each byte.
            let beginning = String(repeating: "a", count: number % 64) + String(number, radix: 36)
            let text = number % 2 == 0 ? beginning + "*" : beginning
            _ = tree.insert(number, try #require(EventPattern(text)))
            if number.nonzeroBitCount == 1 { visits.append(tree.forEach(matching: "other.name") { _ in }) }
        }
        for length in [1, 8, 63, 127] {
            let name = String(repeating: "a", count: length)
            #expect(tree.forEach(matching: name) { _ in } <= length + 1, "\(name)")
            #expect(tree.forEach(matching: name + "~") { _ in } <= length + 2, "\(name)~")
        }
        // The root and at most two nodes below it.
        #expect(visits.allSatisfy { $0 <= 3 }, "\(visits)")
    }

    @Test("The task registry finds tasks after random changes", arguments: 1...10 as ClosedRange<UInt64>)
    func registry(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bench = Bench()
        let registry = TaskRegistry()
        var known: [String: TaskEntry] = [:]
        for _ in 0..<2_000 {
            let name = "t\(Int.random(in: 0..<200, using: &generator))"
            if let entry = known.removeValue(forKey: name) {
                registry.remove(entry)
            } else {
                let entry = TaskEntry(
                    TaskDescription(name: name), index: 0, provider: ClientTask(bench.runtime.clients))
                registry.insert(entry)
                known[name] = entry
            }
            #expect(registry.count == known.count)
            let probe = "t\(Int.random(in: 0..<200, using: &generator))"
            #expect(registry.find(probe) === known[probe])
        }
        for (name, entry) in known { #expect(registry.find(name) === entry) }
    }
}
