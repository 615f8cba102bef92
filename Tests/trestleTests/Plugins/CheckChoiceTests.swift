import ArgumentParser
import BridgeJSON
import Testing

@testable import trestle

@Suite("The tasks that a check may call")
struct CheckChoiceTests {
    @Test("include only named tasks, with options that are given, read from a file, or sampled")
    func named() throws {
        let choice = try CheckChoice(["a", #"b={"x": "1=2"}"#, "c=@c.json"]) { path in
            #expect(path == "c.json")
            return Array("[3]".utf8)
        }
        #expect(choice.options(for: "a") == .sample)
        #expect(choice.options(for: "b") == .these(["x": "1=2"]))
        #expect(choice.options(for: "c") == .these([3]))
        #expect(choice.options(for: "d") == .none)
        #expect(choice.unknown(among: ["a", "c"]) == ["b"])
    }

    @Test("include all tasks if requested; given options still apply")
    func all() throws {
        let choice = try CheckChoice(["b=2"], all: true)
        #expect(choice.options(for: "a") == .sample)
        #expect(choice.options(for: "b") == .these(2))
    }

    @Test("are refused if their options are not JSON, with an example")
    func noJSON() {
        let error = #expect(throws: ValidationError.self) { try CheckChoice(["greet=who"]) }
        #expect(error?.message.contains("greet") == true && error?.message.contains(#"--call 'greet={"#) == true)
    }

    @Test("A finding has a line for people and an object for programs")
    func finding() {
        let finding = CheckFinding(
            isolation: .isolated, task: "greet", check: "once", outcome: .failed, message: "two answers\nto one call")
        #expect(finding.line { "*\($0)*" } == "failed  *greet once*: two answers to one call")
        #expect(
            finding.json == [
                "isolation": "process", "task": "greet", "check": "once", "outcome": "failed",
                "message": "two answers\nto one call",
            ])
    }
}
