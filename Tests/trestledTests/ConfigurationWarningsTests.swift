import Testing

@testable import trestled

@Suite("The warnings about a configuration")
struct ConfigurationWarningsTests {
    private func warnings(_ text: String, descriptors: Int = 1_024) throws -> [String] {
        try configuration(text).warnings(descriptors: descriptors).map(\.description)
    }

    @Test("are empty if no limit is set, however few descriptors the process may have")
    func silent() throws {
        #expect(try warnings("", descriptors: 64) == [])
    }

    @Test("include more sessions than available descriptors, with a position")
    func sessions() throws {
        #expect(try warnings("[limits]\nsessions = 924") == [])
        let lines = try warnings("[limits]\nsessions = 925")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("t.toml:2:12: limits.sessions: the process may have 1024 descriptors") == true)
        #expect(try warnings("limits.sessions = 1", descriptors: 3).count == 1)
    }

    @Test("include an event queue that holds less than one message")
    func events() throws {
        let lines = try warnings("[limits]\nmessage_bytes = \"2MiB\"\nevent_queue_bytes = \"1MiB\"")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("t.toml:3:21: limits.event_queue_bytes: an event may be as long") == true)
        #expect(try warnings("[limits]\nevent_queue_bytes = \"1MiB\"") == [])
    }
}
