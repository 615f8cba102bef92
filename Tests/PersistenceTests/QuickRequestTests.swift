import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("Options that are read without a tree")
struct QuickRequestTests {
    /// What is stored for options, read by the way of `Codable`.
    private func decoded(_ options: [UInt8]) throws -> (table: ExactText, key: ExactText?, record: [UInt8]) {
        let request = try options.withUnsafeBytes {
            try JSONCoding.decode(CreateOperation.self, from: $0, unknownKeys: .refuse)
        }
        #expect(request.namespace == nil)
        return (request.table, request.key, Array(try request.record.text(at: "$", "record")))
    }

    @Test(
        "The common form is read so, in any order of the members",
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
        #expect(Array(try quick.record.text(at: "$", "record")) == slow.record)
        let read = try #require(ReadTask.quickRequest(Array(#"{"key":"k","table":"tä"}"#.utf8)))
        #expect((read.table, read.key) == (ExactText("tä"), ExactText("k")))
    }

    @Test(
        "What may mean something else than it says, or is wrong, is left to the parser",
        arguments: [
            #"{ "table":"t","record":{}}"#, #"{"table":"t","record":{"a": 1}}"#, #"{"table":"t","record":{}} "#,
            #"{"table":"t","record":{"a":1,"a":2}}"#, #"{"table":"t","table":"u","record":{}}"#,
            #"{"table":"t","record":{"a":"\u0041"}}"#, #"{"table":"t","record":{"a":"\/"}}"#,
            #"{"table":"\"","record":{}}"#, #"{"table":"t","key":null,"record":{}}"#, #"{"table":"t","record":[]}"#,
            #"{"table":"t","record":{},"namespace":"1:local"}"#, #"{"table":"t","record":{},"more":1}"#,
            #"{"table":"t"}"#, #"{"record":{}}"#, #"{"table":1,"record":{}}"#, #"{"table":"t","record":{"a":01}}"#,
            #"{"table":"t","record":{"a":1.}}"#, #"{"table":"t","record":{"a":.5}}"#, #"{"table":"#, "", "{", "[]",
            "\0",
        ])
    func leftToTheParser(_ text: String) {
        #expect(CreateTask.quickRequest(Array(text.utf8)) == nil)
        #expect(ReadTask.quickRequest(Array(text.utf8)) == nil)
    }

    @Test("Bytes that are no UTF-8 and raw control characters are left to the parser")
    func rawBytes() {
        // At every place of what is looked at eight bytes at a time.
        for (byte, place) in ([0x00, 0x0A, 0x1F, 0x80, 0xC3, 0xED, 0xFF] as [UInt8]).flatMap({ byte in
            (0..<20).map { (byte, $0) }
        }) {
            let text = Array(repeating: UInt8(ascii: "x"), count: place) + [byte] + Array("yyyyyyyy".utf8)
            let options = Array(#"{"table":"t","record":{"a":""#.utf8) + text + Array(#""}}"#.utf8)
            #expect(CreateTask.quickRequest(options) == nil, "byte \(byte) at \(place)")
        }
    }

    @Test("Whatever is read so, the parser reads alike")
    func property() throws {
        var generator = SeededGenerator(seed: 64)
        let seed = Array(
            #"{"table":"tb","key":"k1","record":{"n":-12.50e3,"s":"x\n\"é","l":[1,{"n":2,"m":null}],"b":true,"o":{}}}"#
                .utf8)
        let alphabet = Array(##"{}[],:"\ue09+-.ntf0 a/é"##.utf8) + [0, 10, 0xFF]
        var quickCount = 0
        for _ in 0..<20_000 {
            var options = seed
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: 0..<options.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: options[index] = alphabet.randomElement(using: &generator) ?? 0
                case 1: options.remove(at: index)
                case 2: options.insert(alphabet.randomElement(using: &generator) ?? 0, at: index)
                default: options.insert(contentsOf: options[index...].prefix(12), at: index)
                }
            }
            guard let quick = CreateTask.quickRequest(options) else { continue }
            quickCount += 1
            let slow = try decoded(options)
            #expect(quick.table == slow.table)
            #expect(quick.key == slow.key)
            #expect(Array(try quick.record.text(at: "$", "record")) == slow.record)
        }
        // What is neither right nor wrong by accident: enough were read so.
        #expect(quickCount > 4000)
    }
}
