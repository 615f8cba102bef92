import ArgumentParser
import BridgeJSON
import Testing

@testable import trestle

@Suite("Which tasks a check may call")
struct CheckChoiceTests {
    @Test("Only those that are named, with the options that are given, read from a file, or to be made")
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

    @Test("All of them, where that is said; options that are given still count")
    func all() throws {
        let choice = try CheckChoice(["b=2"], all: true)
        #expect(choice.options(for: "a") == .sample)
        #expect(choice.options(for: "b") == .these(2))
    }

    @Test("Options that are no JSON are refused, with a way to write them")
    func noJSON() {
        let error = #expect(throws: ValidationError.self) { try CheckChoice(["greet=who"]) }
        #expect(error?.message.contains("greet") == true && error?.message.contains(#"--call 'greet={"#) == true)
    }

    @Test("A finding is a sentence for people and a line for programs")
    func finding() {
        let finding = CheckFinding(
            isolation: .isolated, task: "greet", check: "once", outcome: .failed, says: "two answers\nto one call")
        #expect(finding.line { "*\($0)*" } == "failed  *greet once*: two answers to one call")
        #expect(
            finding.json == [
                "isolation": "isolated", "task": "greet", "check": "once", "outcome": "failed",
                "says": "two answers\nto one call",
            ])
    }
}
