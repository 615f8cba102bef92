import BridgeJSON
import TestSupport
import Testing

// Serialized, because the tests block their thread while the daemon works.
@Suite("The pages of the protocol", .serialized)
struct ProtocolExampleTests {
    /// The pages that describe the tasks.
    private static let taskPaths = ["docs/cookies.md", "docs/daemon-tasks.md", "docs/plugin-tasks.md"]
    /// The pages with many examples.
    private static let paths = ["docs/protocol.md"] + taskPaths
    /// Other pages with some examples.
    private static let morePaths = ["docs/fetch.md"]
    private static let examples = (try? (paths + morePaths).flatMap { try Example.all(in: Page($0)) }) ?? []

    @Test("The examples of each page are valid, and there are at least ten", arguments: paths)
    func readable(_ path: String) throws {
        let examples = try Example.all(in: Page(path))
        #expect(examples.count >= 10)
        #expect(examples.allSatisfy { $0.steps.contains { !$0.isSent } })
    }

    @Test("A daemon answers as the example shows", arguments: examples)
    func exchange(_ example: Example) throws {
        let daemon = try DaemonProcess()
        try example.run(on: daemon)
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("Every task of the daemon and of its plugins is described")
    func tasks() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.send(#"{"task":"bridge.tasks","callbackId":1}"#)
        let answer = try JSON(parsing: client.receive() ?? "")
        let names = (answer["result"]?["tasks"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
        // Counter and sysinfo are example plugins in C, fixture is for tests: they are not shipped.
        let others = ["counter.", "sysinfo.", "fixture."]
        let shipped = names.filter { name in !others.contains { name.hasPrefix($0) } }
        let headings = try Self.headings()
        let missing = shipped.filter { !headings.contains($0) }
        #expect(names.count >= 20)
        #expect(missing == [], "\(Self.taskPaths) have no section for these tasks")
    }

    /// Returns the names in the headings of the task pages, which have the form `## \`name\`` or `## Name`.
    private static func headings() throws -> Set<String> {
        let titles = try taskPaths.flatMap { try Page($0).prose }.map(\.text).filter { $0.hasPrefix("##") }
        return Set(titles.flatMap { $0.split { " #`,".contains($0) }.map(String.init) })
    }
}
