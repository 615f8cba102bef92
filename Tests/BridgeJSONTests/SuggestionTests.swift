import TestSupport
import Testing

@testable import BridgeJSON

@Suite("Suggestions")
struct SuggestionTests {
    @Test(
        "The distance counts inserted, deleted, replaced and transposed letters",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("socket", "socket", 0), ("socket", "sokcet", 1),
            ("limit", "limits", 1), ("kitten", "sitting", 3), ("ab", "ba", 1),
        ])
    func distance(from: String, to: String, edits: Int) {
        #expect(Suggestion.distance(Array(from.utf8), Array(to.utf8), atMost: 8) == edits)
        #expect(Suggestion.distance(Array(from.utf8), Array(to.utf8), atMost: edits - 1) == nil)
    }

    /// Returns the distance from the whole table, without a limit.
    private func plainDistance(_ from: [UInt8], _ to: [UInt8]) -> Int {
        var rows = [Array(0...to.count)]
        for row in 0..<from.count {
            var current = [row + 1]
            for column in 0..<to.count {
                let replaced = rows[row][column] + (from[row] == to[column] ? 0 : 1)
                var best = min(replaced, rows[row][column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, from[row] == to[column - 1], from[row - 1] == to[column] {
                    best = min(best, rows[row - 1][column - 1] + 1)
                }
                current.append(best)
            }
            rows.append(current)
        }
        return rows[from.count][to.count]
    }

    @Test("The distance is that of the whole table up to the limit, and nil beyond it")
    func boundedDistance() {
        var random = SeededGenerator(seed: 7)
        func word() -> [UInt8] {
            (0..<Int.random(in: 0...10, using: &random)).map { _ in UInt8.random(in: 97...99, using: &random) }
        }
        for _ in 0..<5_000 {
            let (from, to, bound) = (word(), word(), Int.random(in: 0...11, using: &random))
            let plain = plainDistance(from, to)
            #expect(Suggestion.distance(from, to, atMost: bound) == (plain <= bound ? plain : nil))
        }
    }

    @Test("The nearest name is suggested, or none if all are far")
    func nearest() {
        let names = ["socket", "socket_mode", "state_dir"]
        #expect(Suggestion.nearest(to: "socke", among: names) == "socket")
        #expect(Suggestion.nearest(to: "SOCKET-MODE", among: names) == "socket_mode")
        #expect(Suggestion.nearest(to: "stat", among: names) == "state_dir")
        #expect(Suggestion.nearest(to: "so", among: names) == nil)
        #expect(Suggestion.nearest(to: "colour", among: names) == nil)
        #expect(Suggestion.nearest(to: "x", among: ["y"]) == nil)
        #expect(Suggestion.nearest(to: "", among: names) == nil)
        #expect(Suggestion.nearest(to: "socket", among: []) == nil)
    }

    @Test("An abbreviation of exactly one name suggests it")
    func shortened() {
        #expect(Suggestion.nearest(to: "ls", among: ["new", "load", "list", "unload"]) == "list")
        #expect(Suggestion.nearest(to: "ls", among: ["list", "lists"]) == nil)
        #expect(Suggestion.nearest(to: "st", among: ["list"]) == nil)
        #expect(Suggestion.nearest(to: "l", among: ["list"]) == "list")
    }

    @Test("Hidden names are not suggested, and the filter is called only for near names")
    func hidden() {
        var asked: [String] = []
        let names = ["Echo", "Ecko", "persistence.create"]
        let found = Suggestion.nearest(to: "Eco", among: names) { name in
            asked.append(name)
            return name == "Ecko"
        }
        #expect(found == "Ecko")
        #expect(asked == ["Echo", "Ecko"])
        #expect(Suggestion.nearest(to: "Ech", among: names, where: { _ in false }) == nil)
    }

    @Test("The search is limited: names far back, long names and too many near names are skipped")
    func bounds() {
        let far = (0..<Suggestion.maximumNames).map { "zzzzzz\($0)" }
        #expect(Suggestion.nearest(to: "socke", among: far + ["socket"]) == nil)
        #expect(Suggestion.nearest(to: "socke", among: far.dropLast() + ["socket"]) == "socket")
        let long = String(repeating: "a", count: Suggestion.maximumBytes + 1)
        #expect(Suggestion.nearest(to: long, among: [long + "b"]) == nil)
        // The names have the same letters in other positions, so that each must be compared.
        let anagrams = Array(repeating: "teksoc", count: Suggestion.maximumDistances)
        #expect(Suggestion.nearest(to: "socket", among: anagrams + ["docket"]) == nil)
        #expect(Suggestion.nearest(to: "socket", among: anagrams.dropLast() + ["docket"]) == "docket")
        #expect(Suggestion.maximumDistances <= 8)
        // The names with the most letters in common are compared, at any position.
        let others = (0..<100).map { "socxy\($0 % 10)" }
        #expect(Suggestion.nearest(to: "socket", among: others + ["sokcet"]) == "sokcet")
        var begun = 0
        let many = (0..<100).map { "socket_number_\($0)" }
        #expect(
            Suggestion.nearest(to: "socket", among: many) { _ in
                begun += 1
                return true
            } == nil)
        #expect(begun == 0)
    }

    @Test("Every name within the distance is found although letters are first compared as sets")
    func complete() {
        var random = SeededGenerator(seed: 19)
        for _ in 0..<2_000 {
            let name = (0..<Int.random(in: 3...12, using: &random)).map { _ in
                Character(UnicodeScalar(UInt8.random(in: 97...102, using: &random)))
            }
            var typed = name
            let index = Int.random(in: 0..<name.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: typed.remove(at: index)
            case 1: typed.insert("x", at: index)
            default: typed[index] = "y"
            }
            #expect(Suggestion.nearest(to: String(typed), among: [String(name)]) == String(name))
        }
    }

    @Test("The question ends a sentence; the hint also lists the known names")
    func words() {
        #expect(Suggestion.question(for: "tabel", among: ["table", "key"]) == "; did you mean 'table'?")
        #expect(Suggestion.question(for: "colour", among: ["table", "key"]).isEmpty)
        #expect(
            Suggestion.hint(for: "tabel", among: ["table", "key"]) == "; did you mean 'table'? (known: table, key)")
        #expect(Suggestion.hint(for: "colour", among: []) == " (there are none)")
    }
}
