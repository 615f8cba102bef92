import BridgeJSON
import Testing

@testable import trestle

@Suite("Comparing outcomes")
struct OutcomeComparisonTests {
    private func compare(
        _ recorded: RecordedCall.Outcome, _ now: Result<JSON, BridgeError>, ignoring paths: [String] = []
    ) -> OutcomeComparison.Verdict {
        OutcomeComparison.compare(recorded, now, ignoring: paths.compactMap(IgnoredPath.init))
    }

    /// Returns the paths of the differences between two results.
    private func paths(_ before: JSON, _ after: JSON, ignoring ignored: [String] = []) -> [String] {
        guard case .different(let differences) = compare(.result(before), .success(after), ignoring: ignored) else {
            return []
        }
        return differences.map(\.path.description)
    }

    @Test(
        "Differences are reported by their paths",
        arguments: [
            (1, 1, []), (1, 2, ["$"]), (["a": 1, "b": [1, 2]], ["b": [1, 2], "a": 1], []),
            (["a": 1, "b": [1, ["c": 2]]], ["a": 2, "b": [1, ["c": 3]]], ["$.a", "$.b[1].c"]),
            ([1, 2], [1], ["$[1]"]), ([1], [1, 2], ["$[1]"]), (["a": nil], [:], ["$.a"]),
            ([:], ["a.b": 1], [#"$["a.b"]"#]),
            (["x": "1"], ["x": 1], ["$.x"]), (1.0, 1, []), (1.5, 1, ["$"]),
            (["password": "<private>"], ["password": "abc"], []),
            (["expiresAt": 5, "uptimeMs": 6, "At": 1], ["expiresAt": 7, "uptimeMs": 8, "At": 2], ["$.At"]),
            (["expiresAt": 5], ["expiresAt": "never"], ["$.expiresAt"]), (["expiresAt": 5], [:], ["$.expiresAt"]),
        ] as [(JSON, JSON, [String])])
    func differencePaths(before: JSON, after: JSON, expected: [String]) { #expect(paths(before, after) == expected) }

    @Test("Added and removed values are reported as such")
    func absent() {
        let verdict = compare(.result(["a": 1, "l": [1]]), .success(["b": nil, "l": []]))
        let expected: [(OutcomePath, JSON?, JSON?)] = [
            (.result.member("a"), 1, Optional<JSON>.none), (.result.member("l").element(0), 1, Optional<JSON>.none),
            (.result.member("b"), Optional<JSON>.none, JSON.null),
        ]
        #expect(
            verdict == .different(expected.map { OutcomeComparison.Difference(path: $0.0, recorded: $0.1, now: $0.2) }))
    }

    @Test("Ignored paths are not compared, including everything in them")
    func ignored() {
        let before: JSON = ["version": 1, "records": [["key": "a", "n": 1], ["key": "b", "n": 2]]]
        let after: JSON = ["version": 2, "records": [["key": "c", "n": 1], ["key": "d", "n": 3]]]
        #expect(paths(before, after, ignoring: ["$.version", "$.records[*].key"]) == ["$.records[1].n"])
        #expect(paths(before, after, ignoring: ["$.records[0]", "$.*"]) == [])
        #expect(paths(before, after, ignoring: ["$"]) == [])
        #expect(paths(["a.b": 1], ["a.b": 2], ignoring: [#"$["a.b"]"#]) == [])
        #expect(paths(["a": 1], [:], ignoring: ["$.a"]) == [])
        #expect(paths(["a": 1], ["a": 2], ignoring: ["error.a"]) == ["$.a"])
    }

    @Test(
        "Invalid paths are nil", arguments: ["", "a", "$a", "$.", "$[", "$[x]", "$[-1]", #"$["a"#, "$..a", "errors"])
    func noPath(text: String) { #expect(IgnoredPath(text) == nil) }

    @Test("Errors are equal if their codes and data are equal, whatever their messages")
    func errors() {
        let before: JSON = ["code": "busy", "message": "Not now.", "data": ["n": 1]]
        func now(_ code: ErrorCode, _ data: JSON?) -> Result<JSON, BridgeError> {
            .failure(BridgeError(code, "Later.", data: data))
        }
        #expect(compare(.error(before), now(.busy, ["n": 1])) == .same)
        #expect(compare(.error(before), now(.busy, ["n": 2]), ignoring: ["error.data"]) == .same)
        guard case .different(let differences) = compare(.error(before), now("internal", nil)) else {
            Issue.record("they differ")
            return
        }
        #expect(differences.map(\.path.description) == ["error.code", "error.data"])
        // The error of a private task.
        #expect(compare(.error(["code": "busy", "message": "<private>"]), now(.busy, ["n": 1])) == .same)
    }

    @Test("An error instead of a result, or the reverse, is one difference of the whole outcome")
    func kinds() {
        let error = BridgeError(.busy, "Later.")
        #expect(
            compare(.result(1), .failure(error))
                == .different([.init(path: .result, recorded: ["result": 1], now: ["error": error.json])]))
        #expect(compare(.error(error.json), .success(1)) != .same)
        #expect(compare(.cut(isError: false, beginning: "["), .failure(error)) != .same)
    }

    @Test("A cut outcome is compared by its beginning")
    func cut() {
        func verdict(_ beginning: String, ignoring: [String] = []) -> OutcomeComparison.Verdict {
            compare(
                .cut(isError: false, beginning: beginning), .success(["a": "x y", "b": [1, 2]]), ignoring: ignoring)
        }
        #expect(verdict(#"{"a": "x y", "b":[1,"#) == .same)
        #expect(verdict(#"{"a": "xy", "b":[1,"#) != .same)
        #expect(verdict(#"{"a": "z"#) != .unknown)
        // These cannot be decided.
        #expect(verdict(#"{"a": "z"#, ignoring: ["$.a"]) == .unknown)
        #expect(verdict(#"{"a": "<private>"#) == .unknown)
        #expect(verdict(#"{"a": "x\u0020y"#) == .unknown)
    }

    @Test("The daemon's own tasks are compared only by success")
    func daemonTasks() {
        let result = OutcomeComparison.compare(
            .result(["pid": 1]), .success(["pid": 2]), ignoring: [], outcomeIsEnough: true)
        #expect(result == .same)
        let error = OutcomeComparison.compare(
            .result(1), .failure(BridgeError(.busy, "x")), ignoring: [], outcomeIsEnough: true)
        #expect(error != .same)
    }
}
