import EventLoop
import Testing

@testable import TaskHosts

@Suite("A plugin process that fails")
struct PluginProcessPolicyTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    @Test("is restarted after a pause that doubles, and not after the fifth fault within a minute")
    func pauses() {
        var policy = RestartPolicy()
        let pauses = (0..<5).map { policy.fault(at: start + .seconds($0), chance: 0.5) }
        #expect(pauses == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800), nil])
    }

    @Test("waits up to a fifth more or less than the pause", arguments: [(0.0, 80), (0.5, 100), (1.0, 120)])
    func jitter(chance: Double, milliseconds: Int) {
        var policy = RestartPolicy()
        let pause = policy.fault(at: start, chance: chance) ?? .zero
        #expect(abs(pause / .milliseconds(1) - Double(milliseconds)) <= 1)
    }

    @Test("waits at most thirty seconds, and is always restarted if it fails three times a minute")
    func longest() {
        var policy = RestartPolicy()
        var now = start
        var pause: Duration?
        for _ in 0..<40 {
            // Three faults within a minute.
            now = now + .seconds(20)
            pause = policy.fault(at: now, chance: 0.5)
            #expect(pause != nil)
        }
        #expect(pause == .seconds(30))
    }

    @Test("starts again with the shortest pause after a minute without a fault")
    func again() {
        var policy = RestartPolicy()
        for second in 0..<3 { _ = policy.fault(at: start + .seconds(second), chance: 0.5) }
        #expect(policy.fault(at: start + .seconds(62), chance: 0.5) == .milliseconds(100))
    }
}
