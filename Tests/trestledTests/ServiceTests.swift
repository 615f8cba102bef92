import EventLoop
import Testing

@testable import trestled

@Suite("The status line")
struct StatusLineTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private let idle = ServiceSample(sessions: 0, calls: 100, plugins: 5)

    @Test("shows sessions, calls per second since the last request, and plugins")
    func text() {
        var line = StatusLine(idle, at: start)
        let busy = ServiceSample(sessions: 2, calls: 340, plugins: 5)
        #expect(line.differs(from: busy))
        #expect(line.text(busy, at: start + .seconds(2)) == "2 sessions, 120 calls/s, 5 plugins")
        #expect(!line.differs(from: busy))
        #expect(line.text(busy, at: start + .seconds(4)) == "2 sessions, 0 calls/s, 5 plugins")
    }

    @Test("shows refused plugins, and uses the singular for one")
    func singular() {
        var line = StatusLine(idle, at: start)
        let sample = ServiceSample(sessions: 1, calls: 100, plugins: 1, refusedPlugins: 2)
        #expect(line.text(sample, at: start + .seconds(1)) == "1 session, 0 calls/s, 1 plugin (2 refused)")
    }

    @Test(
        "has two significant digits, so that it stays the same under a steady load",
        arguments: [(1, "<1"), (2, "1"), (3, "2"), (199, "100"), (1_999, "1000"), (246_912, "120000")]
            as [(UInt64, String)])
    func rates(calls: UInt64, text: String) {
        var line = StatusLine(ServiceSample(), at: start)
        let shown = line.text(ServiceSample(calls: calls), at: start + .seconds(2))
        #expect(shown == "0 sessions, \(text) calls/s, 0 plugins")
    }

    @Test("counts calls from the given start, and does not divide by zero")
    func restart() {
        var line = StatusLine(ServiceSample(), at: start)
        line.restart(at: start + .seconds(100))
        #expect(line.text(ServiceSample(calls: 50), at: start + .seconds(101)) == "0 sessions, 50 calls/s, 0 plugins")
        #expect(line.text(ServiceSample(calls: 99), at: start + .seconds(101)) == "0 sessions, 0 calls/s, 0 plugins")
    }
}

@Suite("The limit of descriptors")
struct DescriptorLimitTests {
    @Test("causes a warning if it is too low for the maximum number of sessions")
    func warning() throws {
        #expect(DescriptorLimit.warning(limit: 10_100, sessions: 10_000) == nil)
        let warning = try #require(DescriptorLimit.warning(limit: 4_096, sessions: 10_000))
        #expect(warning.contains("4096 descriptors") && warning.contains("3996 sessions"))
        #expect(warning.contains("raise the hard limit (LimitNOFILE=, ulimit -Hn) to 10100"))
        #expect(DescriptorLimit.warning(limit: 64, sessions: 1)?.contains("enough for 0 sessions") == true)
    }
}
