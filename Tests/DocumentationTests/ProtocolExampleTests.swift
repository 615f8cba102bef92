import BridgeJSON
import TestSupport
import Testing

// One after the other: they block the thread that they run on while the daemon works.
@Suite("docs/protocol.md", .serialized)
struct ProtocolExampleTests {
    private static let page = Result { try Page("docs/protocol.md") }
    private static let examples = (try? page.flatMap { page in Result { try Example.all(in: page) } }.get()) ?? []

    @Test("The page's examples can be read, and there are many")
    func readable() throws {
        let examples = try Example.all(in: Self.page.get())
        #expect(examples.count >= 20)
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
        // Counter and sysinfo are examples of plugins in C, fixture is for tests: they are not shipped.
        let others = ["counter.", "sysinfo.", "fixture."]
        let shipped = names.filter { name in !others.contains { name.hasPrefix($0) } }
        let missing = shipped.filter { !Self.headings(try? Self.page.get()).contains($0) }
        #expect(names.count >= 20)
        #expect(missing == [], "docs/protocol.md has no section for these tasks")
    }

    /// The names in the page's headings, as `## \`name\`` or `### Name` has them.
    private static func headings(_ page: Page?) -> Set<String> {
        let titles = (page?.prose ?? []).map(\.text).filter { $0.hasPrefix("###") }
        return Set(titles.flatMap { $0.split { " #`,".contains($0) }.map(String.init) })
    }
}
