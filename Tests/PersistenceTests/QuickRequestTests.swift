import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("The quick reader of options")
struct QuickRequestTests {
    /// Returns what the `Codable` decoder would store for options.
    private func decoded(_ options: [UInt8]) throws -> (table: ExactText, key: ExactText?, record: [UInt8]) {
        let request = try options.withUnsafeBytes {
            try JSONCoding.decode(CreateOperation.self, from: $0, unknownKeys: .refuse)
        }
        #expect(request.namespace == nil)
        return (request.table, request.key, try request.record.checkedAsRecord(at: "$.record"))
    }

    @Test(
        "reads the common form, in any order of the members",
        arguments: [
            #"{"table":"t","record":{}}"#, #"{"record":{"a":[1,-0.5e+7,true,false,null]},"key":"k","table":"t"}"#,
            #"{"table":"tä","key":"😀","record":{"a":{"a":{"a":"\"\\\n\t\b\f\r é"}},"b":[[],{}],"":0}}"#,
        ])
    func commonForm(_ text: String) throws {
        let options = Array(text.utf8)
        let quick = try #require(CreateTask.quickRequest(options))
        let slow = try decoded(options)
        #expect(quick.table == slow.table)
        #expect(quick.key == slow.key)
        #expect(try quick.record.checkedAsRecord(at: "$.record") == slow.record)
        let read = try #require(ReadTask.quickRequest(Array(#"{"key":"k","table":"tä"}"#.utf8)))
        #expect((read.table, read.key) == (ExactText("tä"), ExactText("k")))
    }

    @Test(
        "stores the same bytes as the decoder for other white space and escapes",
        arguments: [
            #"{ "table":"t" ,"record":{"a": 1}} "#, #"{"table":"t","record":{"a":1,"a":2}}"#,
            #"{"table":"t","record":{"a":"\u0041\/"}}"#,
        ])
    func otherSpellings(_ text: String) throws {
        let quick = try #require(CreateTask.quickRequest(Array(text.utf8)))
        #expect(quick.record.bytes == (try decoded(Array(text.utf8))).record)
    }

    @Test(
        "leaves invalid and rare forms to the decoder",
        arguments: [
            #"{"table":"t","table":"u","record":{}}"#, #"{"table":"\"","record":{}}"#,
            #"{"\u0074able":"t","record":{}}"#,
            #"{"table":"t","key":null,"record":{}}"#, #"{"table":"t","record":{},"namespace":"1:local"}"#,
            #"{"table":"t","record":{},"more":1}"#, #"{"table":"t"}"#, #"{"record":{}}"#, #"{"table":1,"record":{}}"#,
            #"{"table":"#, "", "{", "[]", "\0",
        ])
    func leftToTheTypes(_ text: String) {
        #expect(CreateTask.quickRequest(Array(text.utf8)) == nil)
        #expect(ReadTask.quickRequest(Array(text.utf8)) == nil)
    }

    @Test("agrees with the decoder on random changes")
    func property() throws {
        var generator = SeededGenerator(seed: 64)
        let seed = Array(
            #"{"table":"tb","key":"k1","record":{"n":-12.50e3,"s":"x\n\"é","l":[1,{"n":2,"m":null}],"b":true,"o":{}}}"#
                .utf8)
        var quickCount = 0
        for _ in 0..<20_000 {
            let options = generator.mutate(seed, changes: 0...3)
            guard (try? JSON(parsing: options)) != nil, let quick = CreateTask.quickRequest(options) else { continue }
            quickCount += 1
            guard case .success(let slow) = Result(catching: { try decoded(options) }) else {
                Issue.record("read quickly, and refused by the types: \(String(decoding: options, as: UTF8.self))")
                continue
            }
            #expect(quick.table == slow.table)
            #expect(quick.key == slow.key)
            #expect(try quick.record.checkedAsRecord(at: "$.record") == slow.record)
        }
        // Guards against a vacuous test: enough inputs were read quickly.
        #expect(quickCount > 4000)
    }
}
