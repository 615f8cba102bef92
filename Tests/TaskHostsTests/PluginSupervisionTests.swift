import EventLoop
import Testing

@testable import TaskHosts

@Suite("The supervision of a plugin's processes")
struct PluginSupervisionTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    @Test("No process starts before the pause after a fault has ended")
    func pause() {
        var supervision = PluginSupervision()
        #expect(supervision.mayStart)
        let verdict = supervision.fault("it ended", isOpen: true, at: start, chance: 0.5)
        #expect(verdict == .pause(.milliseconds(100)) && !supervision.mayStart)
        supervision.resume()
        #expect(supervision.mayStart && supervision.lastFault == "it ended")
    }

    @Test("Faults during a pause do not count, and the pause continues")
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

    @Test("The fifth fault within a minute ends the restarts; faults while the plugin is not open do not count")
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

    @Test("Supervision ends after the plugin was removed and its last process has ended")
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
