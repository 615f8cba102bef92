import Testing
import WebContainer

@Suite("Recovery of pages") struct RecoveryTests {
    private func recovery(_ change: (inout Recovery.Rules) -> Void = { _ in }) -> Recovery {
        var rules = Recovery.Rules()
        change(&rules)
        var recovery = Recovery(rules)
        recovery.committed()
        return recovery
    }

    @Test("a page without a document is not asked: its process may be starting, after a crash too")
    func starting() {
        var recovery = Recovery(Recovery.Rules())
        #expect(recovery.tick(at: .seconds(0)) == nil && recovery.tick(at: .seconds(20)) == nil)
        recovery.committed()
        #expect(recovery.tick(at: .seconds(25)) == .ask)
        #expect(recovery.crashed(at: .seconds(26)) == .reload(1))
        #expect(recovery.tick(at: .seconds(30)) == nil)
    }

    @Test("a page that crashes is loaded again, so often within the time, and then given up")
    func crashes() {
        var recovery = recovery()
        #expect(recovery.crashed(at: .seconds(0)) == .reload(1))
        #expect(recovery.crashed(at: .seconds(1)) == .reload(2))
        #expect(recovery.crashed(at: .seconds(2)) == .reload(3))
        #expect(recovery.crashed(at: .seconds(3)) == .giveUp)
        #expect(recovery.crashed(at: .seconds(60)) == .reload(3))
        #expect(recovery.crashed(at: .seconds(60)) == .giveUp)
        #expect(recovery.crashed(at: .seconds(600)) == .reload(1))
    }

    @Test("without reloads a crash is the end")
    func none() {
        var recovery = recovery { $0.reloads = 0 }
        #expect(recovery.crashed(at: .zero) == .giveUp)
    }

    @Test("a page that does not answer in time has its process ended, once")
    func hang() {
        var recovery = recovery()
        #expect(recovery.tick(at: .seconds(0)) == .ask)
        #expect(recovery.tick(at: .seconds(5)) == nil)
        #expect(recovery.tick(at: .seconds(8)) == .endProcess)
        #expect(recovery.tick(at: .seconds(20)) == nil)
        #expect(recovery.crashed(at: .seconds(21)) == .reload(1))
        recovery.committed()
        #expect(recovery.tick(at: .seconds(22)) == .ask)
    }

    @Test("a page that answers is asked again at the next tick")
    func pulse() {
        var recovery = recovery()
        for second in stride(from: 0, to: 50, by: 5) {
            #expect(recovery.tick(at: .seconds(second)) == .ask)
            #expect(recovery.answered() == nil)
        }
    }

    @Test("a late answer says that the page lives")
    func late() {
        var recovery = recovery()
        _ = recovery.tick(at: .seconds(0))
        _ = recovery.tick(at: .seconds(9))
        #expect(recovery.answered() == .responsive)
        #expect(recovery.tick(at: .seconds(10)) == .ask)
    }

    @Test("a page that a dialog holds is not hung, however long that takes")
    func dialog() {
        var recovery = recovery()
        _ = recovery.tick(at: .seconds(0))
        recovery.suspend(true)
        #expect(recovery.tick(at: .seconds(100)) == nil)
        recovery.suspend(false)
        #expect(recovery.tick(at: .seconds(200)) == .ask)
        #expect(recovery.tick(at: .seconds(205)) == nil)
    }

    @Test("a blank page is loaded once more, and then left as it is")
    func blank() {
        var recovery = recovery()
        #expect(recovery.looked(isBlank: false, at: .seconds(0)) == nil)
        #expect(recovery.looked(isBlank: true, at: .seconds(1)) == .reload(1))
        #expect(recovery.looked(isBlank: true, at: .seconds(2)) == nil)
        #expect(recovery.looked(isBlank: false, at: .seconds(3)) == nil)
        #expect(recovery.looked(isBlank: true, at: .seconds(4)) == .reload(2))
    }

    @Test("blank pages are left alone where the profile says so, and where reloads are used up")
    func blankBounds() {
        var silent = recovery { $0.isBlankChecked = false }
        #expect(silent.looked(isBlank: true, at: .zero) == nil)
        var used = recovery { $0.reloads = 1 }
        _ = used.crashed(at: .zero)
        #expect(used.looked(isBlank: true, at: .seconds(1)) == nil)
    }
}
