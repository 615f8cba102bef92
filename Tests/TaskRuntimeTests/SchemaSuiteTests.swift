import BridgeJSON
import Glibc
import Testing

@testable import TaskRuntime

/// Where the files of the suite are; nil: it is not tried.
private let schemaSuiteFolder = getenv("JSON_SCHEMA_SUITE").map { String(cString: $0) }

/// The public test suite of JSON Schema (github.com/json-schema-org/JSON-Schema-Test-Suite), by way of
/// `bridge.register` and calls, where `JSON_SCHEMA_SUITE` names the folder of its files for a version, such as
/// `tests/draft2020-12`.
@Suite("The public suite of JSON Schema", .enabled(if: schemaSuiteFolder != nil))
struct SchemaSuiteTests {
    private let bench = Bench()

    /// What became of the tests.
    private struct Outcome {
        var right = 0
        var wrong: [String] = []
        var refused: [(count: Int, reason: String)] = []
    }

    private func content(of path: String) throws -> JSON {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return try JSON(parsing: bytes)
    }

    private func files() throws -> [String] {
        let folder = try #require(schemaSuiteFolder)
        let stream = try #require(opendir(folder))
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".json") { names.append("\(folder)/\(name)") }
        }
        return names.sorted()
    }

    /// Registers a task with the schema. Returns why it is refused.
    private func register(_ schema: JSON, by provider: FakeClient) -> String? {
        provider.send(
            #"{"task":"bridge.register","options":{"tasks":["suite"],"descriptions":{"suite":{"options":\#(schema.text)}}},"callbackId":0}"#
        )
        return provider.readOne()?["error"]?["message"]?.stringValue
    }

    private func fits(_ value: JSON, _ provider: FakeClient, _ caller: FakeClient) throws -> Bool {
        caller.send(#"{"task":"suite","options":\#(value.text),"callbackId":1}"#)
        guard let call = provider.read().first else {
            #expect(caller.readOne()?.errorCode == "options.invalid")
            return false
        }
        let id = try #require(call["callbackId"])
        provider.send(#"{"callbackId":\#(id.text),"result":null}"#)
        #expect(caller.readOne()?["result"] == .null)
        return true
    }

    @Test("Every required test comes out right, but for schemas that name another document or another vocabulary")
    func suite() throws {
        var outcome = Outcome()
        let (provider, caller) = (bench.client(), bench.client())
        for file in try files() {
            for group in try content(of: file).arrayValue ?? [] {
                let tests = group["tests"]?.arrayValue ?? []
                if let reason = register(try #require(group["schema"]), by: provider) {
                    outcome.refused.append((tests.count, reason))
                    let isForeign =
                        reason.contains("only schemas of the same document")
                        || reason.contains("only the vocabulary of")
                    if !isForeign { outcome.wrong.append("\(file): \(reason)") }
                    continue
                }
                for test in tests {
                    let isRight = try fits(try #require(test["data"]), provider, caller) == (test["valid"] == true)
                    if isRight {
                        outcome.right += 1
                    } else {
                        outcome.wrong.append("\(file): \(group.text) \(test.text)")
                    }
                }
            }
        }
        let refusedCount = outcome.refused.reduce(0) { $0 + $1.count }
        print("JSON Schema suite: \(outcome.right) right, \(outcome.wrong.count) wrong, \(refusedCount) refused")
        for (count, reason) in outcome.refused { print("  \(count): \(reason)") }
        #expect(outcome.wrong.isEmpty)
        #expect(outcome.right > 1_000)
    }
}
