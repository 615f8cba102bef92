import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

/// The required tests of the JSON Schema Test Suite for draft 2020-12, through `bridge.register` and calls.
@Suite("The JSON Schema Test Suite", .enabled(if: PublicSuite.jsonSchema.isThere, "\(PublicSuite.jsonSchema.missing)"))
struct SchemaSuiteTests {
    private let bench = Bench()

    /// The reason why a schema of the suite is refused. The raw value is a part of the error message.
    private enum Reason: String {
        /// The daemon fetches no documents: otherwise a client could make it read any address.
        case otherDocument = "only schemas of the same document can be referred to"
        /// A vocabulary gives keywords other meanings, and the daemon supports only one vocabulary.
        case otherVocabulary = "only the vocabulary of https://json-schema.org/draft/2020-12/schema is supported"
    }

    /// A group of tests with the same schema, identified by file and description.
    private struct Group: Hashable {
        var file: String
        var description: String

        init(_ file: String, _ description: String) {
            self.file = file
            self.description = description
        }
    }

    /// The groups whose schemas are refused. All other tests must pass.
    private static let refused: [Group: Reason] = {
        let documents = [
            "defs.json": ["validate definition against metaschema"],
            "dynamicRef.json": [
                "$ref and $dynamicAnchor are independent of order - $defs first",
                "$ref and $dynamicAnchor are independent of order - $ref first",
                "$ref to $dynamicRef finds detached $dynamicAnchor",
                "strict-tree schema, guards against misspelled properties",
                "tests for implementation dynamic anchor and reference link",
            ],
            "ref.json": ["remote ref, containing refs itself"],
            "refRemote.json": [
                "$ref to $ref finds detached $anchor", "Location-independent identifier in remote ref",
                "anchor within remote ref", "base URI change", "base URI change - change folder",
                "base URI change - change folder in subschema", "fragment within remote ref", "ref within remote ref",
                "remote HTTP ref with different $id", "remote HTTP ref with different URN $id",
                "remote HTTP ref with nested absolute ref", "remote ref", "remote ref with ref to defs",
                "retrieved nested refs resolve relative to their URI not $id", "root ref in remote ref",
            ],
        ]
        let vocabularies = [
            "ignore unrecognized optional vocabulary",
            "schema that uses custom metaschema with with no validation vocabulary",
        ]
        var refused: [Group: Reason] = [:]
        for (file, descriptions) in documents {
            for description in descriptions { refused[Group(file, description)] = .otherDocument }
        }
        for description in vocabularies { refused[Group("vocabulary.json", description)] = .otherVocabulary }
        return refused
    }()

    /// The expected scores, by the version of the suite: its commit, or the release of the package that contains it.
    private static let scores = [
        "44401e0c046704b476ec9d2e2fccdaee618f259d": Score(cases: 1_299, passed: 1_246, refused: 53),
        "jsonschema-4.26.0": Score(cases: 1_257, passed: 1_204, refused: 53),
    ]

    /// The results of the tests.
    private struct Score: Equatable {
        var cases = 0
        var passed = 0
        var refused = 0
    }

    /// Registers a task with the schema. Returns the error message; `nil` if the schema is accepted.
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

    @Test("All tests pass except 53, whose schemas are refused because they name other documents or vocabularies")
    func suite() throws {
        let suite = PublicSuite.jsonSchema
        let wanted = try #require(Self.scores[suite.version], "no scores of '\(suite.version)': \(suite.missing)")
        let (provider, caller) = (bench.client(), bench.client())
        var score = Score()
        var refused: Set<Group> = []
        for file in suite.files(in: "tests/draft2020-12") {
            for item in try JSON(parsing: file.bytes).arrayValue ?? [] {
                let group = Group(file.name, try #require(item["description"]?.stringValue))
                let tests = try #require(item["tests"]?.arrayValue)
                score.cases += tests.count
                if let error = register(try #require(item["schema"]), by: provider) {
                    let reason = Self.refused[group]
                    #expect(reason.map { error.contains($0.rawValue) } == true, "\(group): \(error)")
                    refused.insert(group)
                    score.refused += tests.count
                    continue
                }
                for test in tests {
                    let isRight = try fits(try #require(test["data"]), provider, caller) == (test["valid"] == true)
                    #expect(isRight, "\(group): \(test.text)")
                    if isRight { score.passed += 1 }
                }
            }
        }
        #expect(refused == Set(Self.refused.keys))
        #expect(score == wanted)
    }
}
