import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("The parsers on random input")
struct ParserPropertyTests {
    private static let pieces = [
        "a", "b.c", "", ".", "-", "$gt", "$in", "$prefix", "$eq", "$ne", "$or", "\\", "\\.", "é", "e\u{301}", "\0", "😀",
    ]

    private func randomText(_ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            Self.pieces.randomElement(using: &generator) ?? ""
        }.joined()
    }

    private func randomValue(_ generator: inout SeededGenerator, depth: Int = 0) -> JSON {
        switch Int.random(in: 0..<(depth > 3 ? 5 : 7), using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2: return .number(JSONNumber(Int.random(in: -2...2, using: &generator)))
        case 3: return JSONNumber(text: "1e400").map { .number($0) } ?? 0
        case 4: return .string(randomText(&generator))
        case 5:
            return .array(
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    randomValue(&generator, depth: depth + 1)
                })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                object[randomText(&generator)] = randomValue(&generator, depth: depth + 1)
            }
            return .object(object)
        }
    }

    @Test("A random filter is parsed or refused with its path, and can be applied to any record")
    func filters() throws {
        var generator = SeededGenerator(seed: 3)
        var read = 0
        for _ in 0..<4000 {
            let json = randomValue(&generator)
            do throws(BridgeError) {
                let filter = try Filter(parsing: json)
                for _ in 0..<3 { _ = filter.matches(randomValue(&generator)) }
                read += 1
            } catch {
                #expect(error.code == .optionsInvalid)
                #expect(error.data?["path"]?.stringValue?.hasPrefix("$.where") == true)
            }
        }
        #expect(read > 200)
    }

    @Test("A record matches a filter on its own fields")
    func ownFields() throws {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            var record = JSONObject()
            for _ in 0..<3 { record[randomText(&generator)] = randomValue(&generator, depth: 3) }
            var filter = JSONObject()
            for (name, value) in record where !name.isEmpty { filter[escaped(name)] = ["$eq": value] }
            #expect(try Filter(parsing: .object(filter)).matches(.object(record)), "\(JSON.object(record).text)")
        }
    }

    private func escaped(_ name: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            if ".\\-$".unicodeScalars.contains(scalar) { text.append("\\") }
            text.append(scalar)
        }
        return String(text)
    }

    @Test("An escaped name is one name, and escaped names joined by dots are a path")
    func paths() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let names = (0..<Int.random(in: 1...3, using: &generator)).map { _ in randomText(&generator) }
            let path = FieldPath(parsing: names.map(escaped).joined(separator: "."))
            if names.contains("") {
                #expect(path == nil)
            } else {
                #expect(path?.names.map { Array($0.utf8) } == names.map { Array($0.utf8) })
            }
        }
    }

    @Test("A random order is parsed or refused with its path")
    func orders() {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<2000 {
            let json = randomValue(&generator)
            do throws(BridgeError) {
                let ordering = try Ordering(parsing: json)
                let position = ordering.position(of: randomValue(&generator), key: [1])
                #expect(!ordering.precedes(position, position))
            } catch {
                #expect(error.code == .optionsInvalid)
                #expect(error.data?["path"]?.stringValue?.hasPrefix("$.order") == true)
            }
        }
    }

    @Test("The order of values is antisymmetric and transitive")
    func transitivity() throws {
        var generator = SeededGenerator(seed: 8)
        let numbers = [
            "9007199254740992", "9007199254740993", "9007199254740992.0", "9007199254740994", "9.007199254740993e15",
            "-0",
            "0", "0.0", "1e400", "1e500", "123456789012345678901234567890", "123456789012345678901234567891",
        ].compactMap { JSONNumber(text: $0) }.map { JSON.number($0) }
        func value() -> SortValue {
            Bool.random(using: &generator)
                ? SortValue(numbers.randomElement(using: &generator)) : SortValue(randomValue(&generator))
        }
        for _ in 0..<5000 {
            let (first, second, third) = (value(), value(), value())
            #expect(first.order(to: second) == second.order(to: first).reversed)
            if first.order(to: second) != .after, second.order(to: third) != .after {
                #expect(first.order(to: third) != .after)
            }
        }
    }
}
