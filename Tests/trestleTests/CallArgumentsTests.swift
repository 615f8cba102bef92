import ArgumentParser
import BridgeJSON
import Testing

@testable import trestle

@Suite struct CallArgumentsTests {
    @Test(
        "Options are one JSON value or key-value pairs",
        arguments: [
            ([], "{}"),
            ([#"{"a":[1,2.50]}"#], #"{"a":[1,2.50]}"#),
            (["null"], "null"),
            ([#""a=b""#], #""a=b""#),
            (["a=1"], #"{"a":1}"#),
            (["a=one", "b=true", "c=", "d=x=y"], #"{"a":"one","b":true,"c":"","d":"x=y"}"#),
            ([#"a="5""#, #"b={"c":[]}"#], #"{"a":"5","b":{"c":[]}}"#),
            (["a.b=1", "a.c.d=x", "e=2"], #"{"a":{"b":1,"c":{"d":"x"}},"e":2}"#),
            (["a=1", "a=2"], #"{"a":2}"#),
            ([#"a={"b":1}"#, "a.c=2"], #"{"a":{"b":1,"c":2}}"#),
            (["a.b=1", "a=2"], #"{"a":2}"#),
            (["big=123456789012345678901234567890"], #"{"big":123456789012345678901234567890}"#),
        ])
    func good(arguments: [String], expected: String) throws {
        #expect(try CallArguments.options(arguments).text == expected)
    }

    @Test(
        "An argument that is neither is refused with an error that identifies it",
        arguments: [
            (["nonsense"], "'nonsense'"), (["a=1", "b"], "'b'"), (["=1"], "'=1'"), ([".=1"], "'.=1'"),
            (["a..b=1"], "'a..b=1'"), (["a.=1"], "'a.=1'"), (["a=1", "a.b=2"], "'a.b=2'"),
            (["{a"], "not valid JSON"), (["[1,]"], "not valid JSON"),
        ])
    func bad(arguments: [String], named: String) {
        let error = #expect(throws: ValidationError.self) { try CallArguments.options(arguments) }
        #expect(error?.message.contains(named) == true)
    }
}

@Suite struct TimeLimitTests {
    @Test(
        "A number with or without a unit is a time",
        arguments: [
            ("5", 5_000), ("5s", 5_000), ("0.5", 500), ("250ms", 250), ("2m", 120_000), ("2min", 120_000),
            ("1h", 3_600_000), ("0.01ms", 1),
        ])
    func good(text: String, milliseconds: Int) {
        #expect(TimeLimit(argument: text)?.duration == .milliseconds(milliseconds))
    }

    @Test(
        "Any other text is not a time",
        arguments: ["", "0", "-1", "s", "5 s", "5x", "1e3", "inf", "nan", "1.2.3", "9999999h", "٣"])
    func bad(text: String) {
        #expect(TimeLimit(argument: text) == nil)
    }
}

@Suite struct CommandLineTests {
    @Test("--socket is accepted before and after the command")
    func socket() throws {
        for arguments in [["--socket", "/s", "call", "t"], ["call", "t", "--socket", "/s"]] {
            let command = try #require(try Trestle.parseAsRoot(arguments) as? CallCommand)
            #expect(command.common.socket ?? command.root.common.socket == "/s")
        }
        let nested = try #require(
            try Trestle.parseAsRoot(["--socket", "/s", "user", "add", "ann"]) as? UserCommand.Add)
        #expect(nested.root.common.socket == "/s")
        #expect(nested.user == "ann")
    }

    @Test("A call's options and flags are accepted in any order; arguments after -- belong to the command")
    func arguments() throws {
        let call = try #require(
            try Trestle.parseAsRoot(["call", "t", "a=1", "--timeout", "2", "b=-3", "--raw", "--session", "4"])
                as? CallCommand)
        #expect(call.arguments.task == "t")
        #expect(call.arguments.options == ["a=1", "b=-3"])
        #expect(call.common.timeout?.duration == .seconds(2))
        #expect(call.arguments.session == 4)
        #expect(call.raw && !call.progress)
        let input = try #require(try Trestle.parseAsRoot(["call", "t", "-"]) as? CallCommand)
        #expect(input.arguments.options == ["-"])
        let register = try #require(
            try Trestle.parseAsRoot(["register", "t", "--own-session", "--", "jq", "--raw-output", "."])
                as? RegisterCommand)
        #expect(register.command == ["jq", "--raw-output", "."])
        #expect(register.ownSession)
    }

    @Test(
        "Invalid arguments are a usage error",
        arguments: [
            ["call"], ["call", "t", "x"], ["call", "t", "--timeout", "soon"], ["kill", "x"], ["register", "t"],
            ["subscribe"], ["subscribe", "x", "--count", "0"], ["user", "add"], ["nonsense"], ["store", "backup"],
            ["store", "restore"], ["store", "import", "--if-exists", "never"],
        ])
    func usage(arguments: [String]) {
        let error = #expect(throws: (any Error).self) { try Trestle.parseAsRoot(arguments) }
        #expect(error.map { Trestle.exitCode(for: $0) } == .validationFailure)
        #expect(ExitCode.validationFailure.rawValue == 64)
    }

    @Test("Every command's help has examples")
    func examples() {
        var commands: [any ParsableCommand.Type] = [Trestle.self]
        while let command = commands.popLast() {
            #expect(command.configuration.discussion.contains("EXAMPLES\n"), "\(command)")
            commands += command.configuration.subcommands
            commands += command.configuration.groupedSubcommands.flatMap(\.subcommands)
        }
    }
}
