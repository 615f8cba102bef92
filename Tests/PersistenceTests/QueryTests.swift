import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("Queries and their pages", .timeLimit(.minutes(20)))
struct QueryTests {
    private func create(_ store: TestStore, _ records: [(String, JSON)]) async throws {
        let operations = records.map { key, record -> JSON in
            ["create": ["table": "t", "key": .string(key), "record": record]]
        }
        try await store.call("transaction", ["operations": .array(operations)])
    }

    @Test("Without an order, records are sorted by key and have their versions")
    func byKey() async throws {
        let store = try await TestStore()
        try await create(store, [("b", ["n": 1]), ("a", ["n": 2]), ("é", [:]), ("z", [:])])
        let page = try await store.call("query", ["table": "t", "limit": 2])
        #expect(
            page["records"] == [
                ["key": "a", "version": 2, "record": ["n": 2]], ["key": "b", "version": 1, "record": ["n": 1]],
            ])
        let cursor = try #require(page["cursor"])
        let rest = try await store.call("query", ["table": "t", "limit": 2, "cursor": cursor])
        #expect(rest.keys == ["z", "é"])
        #expect(rest["cursor"] == nil)
    }

    @Test("A query of a table that does not exist returns an empty page")
    func noTable() async throws {
        let store = try await TestStore()
        #expect(try await store.call("query", ["table": "none"]) == ["records": []])
        #expect(try await store.call("query", ["table": "none", "order": "a"]) == ["records": []])
    }

    @Test("Conditions, an order by several fields, and both directions work")
    func whereAndOrder() async throws {
        let store = try await TestStore()
        try await create(
            store,
            [
                ("1", ["a": 1, "b": "x"]), ("2", ["a": 2, "b": "x"]), ("3", ["a": 2, "b": "y"]), ("4", ["b": "y"]),
                ("5", ["a": "text", "b": "x"]), ("6", ["a": 3, "b": "x"]),
            ])
        func keys(_ options: JSONObject) async throws -> [String] {
            var options = options
            options["table"] = "t"
            return try await store.call("query", .object(options)).keys
        }
        #expect(try await keys(["where": ["a": ["$gte": 2]]]) == ["2", "3", "6"])
        #expect(try await keys(["where": ["a": ["$gte": 1], "b": "x"], "order": "-a"]) == ["6", "2", "1"])
        #expect(try await keys(["order": ["b", "-a"]]) == ["5", "6", "2", "1", "3", "4"])
        #expect(try await keys(["order": "a"]) == ["4", "1", "2", "3", "6", "5"])
        #expect(try await keys(["order": ["-a"]]) == ["5", "6", "2", "3", "1", "4"])
        #expect(try await keys(["order": []]) == ["1", "2", "3", "4", "5", "6"])
    }

    @Test("A page has a cursor only if further matching records follow", arguments: [nil, "n"] as [String?])
    func lastPage(_ order: String?) async throws {
        let store = try await TestStore()
        try await create(
            store, (0..<10).map { ("k\($0)", ["n": .number(JSONNumber($0)), "even": .bool($0 % 2 == 0)]) })
        var options: JSONObject = ["table": "t", "where": ["even": true], "limit": 5]
        options["order"] = order.map { .string($0) }
        let all = try await store.call("query", .object(options))
        #expect(all.keys == ["k0", "k2", "k4", "k6", "k8"])
        #expect(all["cursor"] == nil)
        options["limit"] = 4
        let first = try await store.call("query", .object(options))
        #expect(first["cursor"]?.stringValue != nil)
        options["cursor"] = first["cursor"]
        let second = try await store.call("query", .object(options))
        #expect(second.keys == ["k8"])
        #expect(second["cursor"] == nil)
    }

    @Test("A cursor of another table or order is refused")
    func foreignCursor() async throws {
        let store = try await TestStore()
        try await create(store, (0..<3).map { ("k\($0)", [:]) })
        let cursor = try #require(try await store.call("query", ["table": "t", "order": "a", "limit": 1])["cursor"])
        for options: JSON in [
            ["table": "t", "cursor": cursor], ["table": "t", "order": "-a", "cursor": cursor],
            ["table": "u", "order": "a", "cursor": cursor],
        ] {
            let error = try await store.failure("query", options)
            #expect(error.code == .optionsInvalid)
            #expect(error.data?["path"] == "$.cursor")
        }
    }

    @Test("A page is limited in size, and a larger record is a page of its own", arguments: [nil, "n"] as [String?])
    func sizeBound(_ order: String?) async throws {
        let store = try await TestStore()
        let sizes = [200_000, 200_000, 200_000, 900_000, 1000]
        for (index, size) in sizes.enumerated() {
            let record: JSON = [
                "n": .number(JSONNumber(index)), "x": .string(String(repeating: "x", count: size)),
            ]
            try await store.call("create", ["table": "t", "key": .string("k\(index)"), "record": record])
        }
        var options: JSONObject = ["table": "t"]
        options["order"] = order.map { .string($0) }
        var pages: [[String]] = []
        repeat {
            let page = try await store.call("query", .object(options))
            #expect(page.bytes.count < 1 << 20)
            pages.append(page.keys)
            options["cursor"] = page["cursor"]
        } while options["cursor"] != nil && pages.count < 10
        #expect(pages == [["k0", "k1"], ["k2"], ["k3"], ["k4"]])
    }

    @Test("Keys count with the size of their escaped form")
    func escapedKeys() async throws {
        let store = try await TestStore()
        let filler = String(repeating: "\u{1}", count: 1000)
        try await create(store, (0..<200).map { (filler + String(1000 + $0), [:]) })
        let page = try await store.call("query", ["table": "t", "limit": 1000])
        #expect(page.bytes.count <= Limits.pageBytes + 20_000)
        #expect(page["cursor"] != nil)
    }

    private func randomValue(_ generator: inout SeededGenerator) -> JSON? {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: nil
        case 1: .null
        case 2: .bool(.random(using: &generator))
        case 3: .number(JSONNumber(Int.random(in: -3...3, using: &generator)))
        case 4: JSONNumber(Double(Int.random(in: -6...6, using: &generator)) / 2).map { .number($0) }
        case 5: .number(JSONNumber(Int64.max - Int64.random(in: 0...3, using: &generator)))
        case 6: .string(["", "a", "b", "é", "e\u{301}", "a\u{0}"].randomElement(using: &generator) ?? "")
        default: Bool.random(using: &generator) ? [] : [:]
        }
    }

    private func randomRecord(_ generator: inout SeededGenerator) -> JSON {
        var record: JSONObject = [:]
        record["a"] = randomValue(&generator)
        var inner: JSONObject = [:]
        inner["b"] = randomValue(&generator)
        record["in"] = .object(inner)
        return .object(record)
    }

    @Test(
        "Every record is returned once and in order, even if returned records are deleted or changed",
        arguments: [[], ["a"], ["-a"], ["in.b", "-a"], ["-in.b", "a"]] as [[String]])
    func everyRecordOnce(_ order: [String]) async throws {
        let store = try await TestStore()
        var generator = SeededGenerator(seed: 99)
        var records: [String: JSON] = [:]
        for index in 0..<150 { records["k\(index)"] = randomRecord(&generator) }
        try await create(store, records.map { ($0.key, $0.value) })
        let ordering = try Ordering(parsing: .array(order.map { .string($0) }))
        let expected = records.map { ordering.position(of: $1, key: Array($0.utf8)) }
            .sorted { ordering.precedes($0, $1) }.map { String(decoding: $0.key, as: UTF8.self) }

        var seen: [String] = []
        var options: JSONObject = ["table": "t", "order": .array(order.map { .string($0) })]
        repeat {
            options["limit"] = .number(JSONNumber(Int.random(in: 1...20, using: &generator)))
            let page = try await store.call("query", .object(options))
            seen += page.keys
            options["cursor"] = page["cursor"]
            // Deletes a record that was returned already. Empties the record at the cursor.
            if let gone = page.keys.first, page.keys.count > 1 {
                try await store.call("delete", ["table": "t", "key": .string(gone)])
            }
            if order.isEmpty, let last = page.keys.last {
                try await store.call("update", ["table": "t", "key": .string(last), "record": [:]])
            }
        } while options["cursor"] != nil
        #expect(seen == expected)
    }

    @Test("Queries by key and queries by field return the same records")
    func sameRecords() async throws {
        let store = try await TestStore()
        var generator = SeededGenerator(seed: 5)
        try await create(store, (0..<100).map { ("k\($0)", randomRecord(&generator)) })
        for filter: JSON in [["a": ["$gte": 0]], ["in.b": ["$prefix": ""]], ["a": ["$ne": 1]], [:]] {
            let byKey = try await store.call("query", ["table": "t", "where": filter, "limit": 1000]).keys
            let byField = try await store.call("query", ["table": "t", "where": filter, "order": "a", "limit": 1000])
            #expect(Set(byKey) == Set(byField.keys))
            #expect(byKey.count == byField.keys.count)
        }
    }
}
