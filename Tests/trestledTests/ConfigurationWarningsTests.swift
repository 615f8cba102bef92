import Testing

@testable import trestled

@Suite("What a configuration is warned of")
struct ConfigurationWarningsTests {
    private func warnings(_ text: String, descriptors: Int = 1_024) throws -> [String] {
        try configuration(text).warnings(descriptors: descriptors).map(\.description)
    }

    @Test("Nothing, where nobody has set anything, however little the process may have")
    func silent() throws {
        #expect(try warnings("", descriptors: 64) == [])
    }

    @Test("More sessions than there are descriptors for, with a position; those that the daemon needs are not counted")
    func sessions() throws {
        #expect(try warnings("[limits]\nsessions = 924") == [])
        let lines = try warnings("[limits]\nsessions = 925")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("t.toml:2:12: limits.sessions: the process may have 1024 descriptors") == true)
        #expect(try warnings("limits.sessions = 1", descriptors: 3).count == 1)
    }

    @Test("A queue of events that holds less than one message")
    func events() throws {
        let lines = try warnings("[limits]\nmessage_bytes = \"2MiB\"\nevent_queue_bytes = \"1MiB\"")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("t.toml:3:21: limits.event_queue_bytes: an event may be as long") == true)
        #expect(try warnings("[limits]\nevent_queue_bytes = \"1MiB\"") == [])
    }
}
