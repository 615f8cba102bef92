import TestSupport
import Testing

@Suite("docs/tutorial.md", .serialized, .timeLimit(.minutes(30)))
struct TutorialTests {
    @Test("In Swift, every command and every file of the page has the described result, without a network")
    func swift() throws { try follow("In Swift") }

    @Test("In C, every command and every file of the page has the described result")
    func c() throws { try follow("In C") }

    @Test("In Python, every command and every file of the page has the described result")
    func python() throws { try follow("In Python") }

    @Test(
        "In a shell script, every command and every file of the page has the described result",
        .enabled(if: Program.exists("jq"), "needs jq"))
    func shell() throws { try follow("In a shell script") }

    private func follow(_ heading: String) throws { try TutorialReader.follow("docs/tutorial.md", heading) }
}

@Suite("docs/debugging.md", .serialized, .timeLimit(.minutes(30)))
struct DebuggingPageTests {
    @Test(
        "Each crash of the page occurs, and shows the described output with the line of the author's file",
        arguments: ["In Swift", "In C", "In Python"])
    func crashes(_ heading: String) throws { try TutorialReader.follow("docs/debugging.md", heading) }
}
