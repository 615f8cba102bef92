import TaskKit
import Testing

@testable import PersistenceTasks

@Suite("The records that a query's where matches")
struct FilterTests {
    private func matches(_ filter: String, _ record: String) throws -> Bool {
        try Filter(parsing: JSON(parsing: filter)).matches(JSON(parsing: record))
    }

    @Test(
        "Matching records",
        arguments: [
            (#"{}"#, #"{}"#),
            (#"{"a":1}"#, #"{"a":1}"#),
            (#"{"a":1}"#, #"{"a":1.0}"#),
            (#"{"a":100}"#, #"{"a":1e2}"#),
            (#"{"a":0}"#, #"{"a":-0}"#),
            (#"{"a":"x","b":true}"#, #"{"b":true,"a":"x"}"#),
            (#"{"a":null}"#, #"{"a":null}"#),
            (#"{"a":{"b":1,"c":[2]}}"#, #"{"a":{"c":[2],"b":1}}"#),
            (#"{"a":{}}"#, #"{"a":{}}"#),
            (#"{"a":[]}"#, #"{"a":[]}"#),
            (#"{"a":{"$eq":{"b":1}}}"#, #"{"a":{"b":1}}"#),
            (#"{"a":{"$ne":1}}"#, #"{"a":2}"#),
            (#"{"a":{"$ne":"x"}}"#, #"{"a":"y"}"#),
            (#"{"a":{"$gt":1}}"#, #"{"a":1.5}"#),
            (#"{"a":{"$gte":1}}"#, #"{"a":1}"#),
            (#"{"a":{"$lt":"b"}}"#, #"{"a":"ab"}"#),
            (#"{"a":{"$lte":"b"}}"#, #"{"a":"b"}"#),
            (#"{"a":{"$gt":1,"$lt":3}}"#, #"{"a":2}"#),
            (#"{"a":{"$in":[1,"x",null]}}"#, #"{"a":"x"}"#),
            (#"{"a":{"$in":[1,"x",null]}}"#, #"{"a":null}"#),
            (#"{"a":{"$prefix":"äb"}}"#, #"{"a":"äbc"}"#),
            (#"{"a":{"$prefix":""}}"#, #"{"a":""}"#),
            (#"{"a.b.c":1}"#, #"{"a":{"b":{"c":1}}}"#),
            (#"{"a\\.b":1}"#, #"{"a.b":1}"#),
            (#"{"\\$type":1}"#, #"{"$type":1}"#),
            (#"{"a\\\\b":1}"#, #"{"a\\b":1}"#),
            (#"{"q\"uote":1}"#, #"{"q\"uote":1}"#),
            (#"{"with space'); DROP":1}"#, #"{"with space'); DROP":1}"#),
            (#"{"\u0000":1}"#, #"{"\u0000":1}"#),
            (#"{"emoji😀.x":1}"#, #"{"emoji😀":{"x":1}}"#),
            // Beyond the integers that a double distinguishes.
            (#"{"a":9007199254740993}"#, #"{"a":9007199254740993}"#),
            (#"{"a":{"$gt":9007199254740992}}"#, #"{"a":9007199254740993}"#),
            (#"{"a":{"$ne":9007199254740992}}"#, #"{"a":9007199254740993}"#),
            (#"{"a":{"$lt":18446744073709551617}}"#, #"{"a":18446744073709551616}"#),
            (#"{"a":{"$lt":-100000000000000000000000}}"#, #"{"a":-100000000000000000000001}"#),
            (#"{"a":{"$gt":1e300}}"#, #"{"a":1e400}"#),
        ])
    func matching(_ filter: String, _ record: String) throws {
        #expect(try matches(filter, record))
    }

    @Test(
        "Records that do not match",
        arguments: [
            (#"{"a":1}"#, #"{"a":2}"#),
            (#"{"a":1}"#, #"{"a":"1"}"#),
            (#"{"a":1}"#, #"{"a":true}"#),
            (#"{"a":false}"#, #"{"a":0}"#),
            (#"{"a":1,"b":1}"#, #"{"a":1}"#),
            (#"{"a":null}"#, #"{}"#),
            (#"{"a":{"$eq":null}}"#, #"{}"#),
            (#"{"a":{"$ne":1}}"#, #"{}"#),
            (#"{"a":{"$ne":1}}"#, #"{"a":1}"#),
            (#"{"a":{"$ne":1}}"#, #"{"a":1.0}"#),
            (#"{"a":{"$ne":1}}"#, #"{"a":"1"}"#),
            (#"{"a":{"$ne":1}}"#, #"{"a":null}"#),
            (#"{"a":{"$gt":1}}"#, #"{"a":"2"}"#),
            (#"{"a":{"$gt":1}}"#, #"{"a":1}"#),
            (#"{"a":{"$gt":"a"}}"#, #"{"a":5}"#),
            (#"{"a":{"$gte":2}}"#, #"{}"#),
            (#"{"a":{"$lt":5}}"#, #"{"a":null}"#),
            (#"{"a":{"$lt":5}}"#, #"{"a":[1]}"#),
            (#"{"a":{"$in":[]}}"#, #"{"a":1}"#),
            (#"{"a":{"$in":[1,null]}}"#, #"{}"#),
            (#"{"a":{"$prefix":"a"}}"#, #"{"a":"b"}"#),
            (#"{"a":{"$prefix":"1"}}"#, #"{"a":1}"#),
            (#"{"a.b":1}"#, #"{"a.b":1}"#),
            (#"{"a.b":1}"#, #"{"a":[{"b":1}]}"#),
            (#"{"a.b":1}"#, #"{"a":1}"#),
            (#"{"a":{"b":1}}"#, #"{"a":{"b":1,"c":2}}"#),
            (#"{"a":[1,2]}"#, #"{"a":[2,1]}"#),
            (#"{"a":9007199254740993}"#, #"{"a":9007199254740992}"#),
            (#"{"a":12345678901234567890123}"#, #"{"a":12345678901234567890124}"#),
            // Two encodings of one letter are two texts.
            (#"{"a":"\u00e9"}"#, #"{"a":"e\u0301"}"#),
            (#"{"a":{"$in":["\u00e9"]}}"#, #"{"a":"e\u0301"}"#),
            (#"{"\u00e9":1}"#, #"{"e\u0301":1}"#),
        ])
    func notMatching(_ filter: String, _ record: String) throws {
        #expect(try !matches(filter, record))
    }

    @Test("Comparing objects with many members takes time in proportion to their size", .timeLimit(.minutes(10)))
    func manyMembers() throws {
        func members(_ numbers: some Sequence<Int>) -> String { numbers.map { #""m\#($0)":0"# }.joined(separator: ",") }
        let count = 30_000
        let filter = #"{"a":{\#(members((0..<count).reversed()))}}"#
        #expect(try matches(filter, #"{"a":{\#(members(0..<count))}}"#))
    }

    @Test("A number with more digits than are compared equals only the same text, and has no order")
    func longNumbers() throws {
        let longest = String(repeating: "7", count: Limits.comparedNumberBytes)
        #expect(try matches(#"{"a":{"$gt":1}}"#, #"{"a":\#(longest)}"#))
        #expect(try !matches(#"{"a":{"$gt":1}}"#, #"{"a":\#(longest)7}"#))
        #expect(try !matches(#"{"a":{"$lt":\#(longest)7}}"#, #"{"a":1}"#))
        #expect(try matches(#"{"a":\#(longest)7}"#, #"{"a":\#(longest)7}"#))
        #expect(try !matches(#"{"a":[\#(longest)7]}"#, #"{"a":[\#(longest)7.0]}"#))
    }

    @Test(
        "An invalid filter is refused with its path",
        arguments: [
            (#"[]"#, "$.where"),
            (#"{"a":{"$like":"x"}}"#, "$.where.a.$like"),
            (#"{"a":{"$gt":1,"b":2}}"#, "$.where.a.b"),
            (#"{"$or":[]}"#, "$.where.$or"),
            (#"{"":1}"#, "$.where."),
            (#"{"a..b":1}"#, "$.where.a..b"),
            (#"{"a.":1}"#, "$.where.a."),
            (#"{"a":{"$gt":null}}"#, "$.where.a.$gt"),
            (#"{"a":{"$lte":[1]}}"#, "$.where.a.$lte"),
            (#"{"a":{"$in":1}}"#, "$.where.a.$in"),
            (#"{"a":{"$prefix":1}}"#, "$.where.a.$prefix"),
        ])
    func refused(_ filter: String, _ path: String) throws {
        let error = try #require(throws: BridgeError.self) { try Filter(parsing: JSON(parsing: filter)) }
        #expect(error.code == .optionsInvalid)
        #expect(error.data?["path"]?.stringValue == path)
    }

    @Test("The numbers of conditions and of choices are limited")
    func bounds() throws {
        func fields(_ count: Int) -> JSON {
            .object((0..<count).reduce(into: JSONObject()) { $0["f\($1)"] = 1 })
        }
        #expect(throws: Never.self) { try Filter(parsing: fields(Limits.conditions)) }
        #expect(throws: BridgeError.self) { try Filter(parsing: fields(Limits.conditions + 1)) }
        let choices = JSON.array(Array(repeating: 1, count: Limits.choices + 1))
        #expect(throws: BridgeError.self) { try Filter(parsing: ["a": ["$in": choices]]) }
    }
}
