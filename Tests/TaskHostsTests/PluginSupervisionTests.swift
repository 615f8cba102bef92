import EventLoop
import Testing

@testable import TaskHosts

@Suite("What is decided about a plugin's processes")
struct PluginSupervisionTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    @Test("Nothing is started before the pause after a fault is over")
    func pause() {
        var supervision = PluginSupervision()
        #expect(supervision.mayStart)
        let verdict = supervision.fault("it ended", isOpen: true, at: start, chance: 0.5)
        #expect(verdict == .pause(.milliseconds(100)) && !supervision.mayStart)
        supervision.resume()
        #expect(supervision.mayStart && supervision.lastFault == "it ended")
    }

    @Test("Processes that fall together are one fault: the pause goes on, and none of it counts")
    func together() {
        var supervision = PluginSupervision()
        _ = supervision.fault("first", isOpen: true, at: start, chance: 0.5)
        for milliseconds in [0, 40, 99, 130] {
            let left = max(0, 100 - milliseconds)
            let now = start + .milliseconds(milliseconds)
            let verdict = supervision.fault("another", isOpen: true, at: now, chance: 0.5)
            #expect(verdict == .pauseOn(.milliseconds(left)))
        }
        supervision.resume()
        #expect(
            supervision.fault("next", isOpen: true, at: start + .seconds(1), chance: 0.5) == .pause(.milliseconds(200)))
    }

    @Test("Too many faults within a minute end it; one of a plugin that takes no calls is none of them")
    func tooMany() {
        var supervision = PluginSupervision()
        #expect(supervision.fault("early", isOpen: false, at: start, chance: 0.5) == .none)
        #expect(supervision.mayStart)
        for second in 1...4 {
            let verdict = supervision.fault("again", isOpen: true, at: start + .seconds(second), chance: 0.5)
            #expect(verdict.duration != nil)
            supervision.resume()
        }
        #expect(supervision.fault("last", isOpen: true, at: start + .seconds(5), chance: 0.5) == .none)
        #expect(supervision.mayStart && supervision.lastFault == "last")
    }

    @Test("It has ended once the plugin is no longer known and the last process is gone")
    func end() {
        var supervision = PluginSupervision()
        supervision.started()
        supervision.started()
        supervision.ended()
        #expect(supervision.end() && !supervision.end())
        #expect(!supervision.mayStart && !supervision.hasEnded)
        supervision.ended()
        #expect(supervision.hasEnded && supervision.running == 0)
    }
}
