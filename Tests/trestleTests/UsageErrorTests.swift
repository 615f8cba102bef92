import ArgumentParser
import Testing

@testable import CommandLineSupport
@testable import trestle

@Suite("Errors of command lines")
struct UsageErrorTests {
    @Test(
        "The parser's messages are rewritten in the style of the other errors",
        arguments: [
            ("Unknown option '--shrt'. Did you mean '--short'?", "unknown option '--shrt'; did you mean '--short'?"),
            ("Missing required subcommand.", "missing required subcommand"),
            ("Missing expected argument '<task>'", "required argument '<task>' is missing"),
            ("Missing expected argument '--out <file>'", "required option '--out <file>' is missing"),
            (
                "The value 'x' is invalid for '--form <a|b>'. Please provide one of 'a' and 'b'.",
                "the value 'x' is invalid for '--form <a|b>': expected one of 'a' or 'b'"
            ),
            (
                "The value 'x' is invalid for '<a>'. Please provide one of 'a', 'b' or 'c'.",
                "the value 'x' is invalid for '<a>': expected one of 'a', 'b' or 'c'"
            ),
            (
                "The value 'x' is invalid for '<a>'. Please provide one of the following:\n  - a\n  - b",
                "the value 'x' is invalid for '<a>': expected one of a, b"
            ),
            (
                "Unknown option '-cx'\n   or: Missing value for '-c <count>' in '-cx'",
                "unknown option '-cx', or missing value for '-c <count>' in '-cx'"
            ),
            ("--count: expected a number", "--count: expected a number"), ("JSON it is", "JSON it is"), ("", ""),
        ])
    func messages(parser: String, expected: String) { #expect(UsageError.message(parser) == expected) }

    private func report(_ arguments: [String]) -> String {
        do {
            _ = try Trestle.parseAsRoot(arguments)
            return ""
        } catch {
            return UsageError.report(error, of: Trestle.self, during: nil)
        }
    }

    @Test("A command-line error has the program's name and is followed by the usage of its command")
    func usage() {
        let text = report(["plugin", "reload"])
        #expect(text.hasPrefix("trestle: required argument '<name>' is missing\n"), "\(text)")
        #expect(text.contains("\nUsage: trestle plugin reload "), "\(text)")
        #expect(report(["status", "--\u{1B}[2J"]).contains(#"unknown option '--\u{1B}[2J'"#))
    }

    @Test("An error in a grouped command shows the whole command path")
    func path() {
        #expect(
            UsageError.report("Unknown.", of: Trestle.self, about: PluginCommand.self) == """
                trestle: unknown
                Usage: trestle plugin <subcommand>
                  See 'trestle plugin --help' for more information.
                """)
    }
}
