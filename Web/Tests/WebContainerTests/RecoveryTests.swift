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

    @Test("a page without a document is not checked: its process may be starting, also after a crash")
    func starting() {
        var recovery = Recovery(Recovery.Rules())
        #expect(recovery.tick(at: .seconds(0)) == nil && recovery.tick(at: .seconds(20)) == nil)
        recovery.committed()
        #expect(recovery.tick(at: .seconds(25)) == .ask)
        #expect(recovery.crashed(at: .seconds(26)) == .reload(1))
        #expect(recovery.tick(at: .seconds(30)) == nil)
    }

    @Test("a page that crashes is loaded again up to the limit within the time, then it is given up")
    func crashes() {
        var recovery = recovery()
        #expect(recovery.crashed(at: .seconds(0)) == .reload(1))
        #expect(recovery.crashed(at: .seconds(1)) == .reload(2))
        #expect(recovery.crashed(at: .seconds(2)) == .reload(3))
        #expect(recovery.crashed(at: .seconds(3)) == .abandon)
        #expect(recovery.crashed(at: .seconds(60)) == .reload(3))
        #expect(recovery.crashed(at: .seconds(60)) == .abandon)
        #expect(recovery.crashed(at: .seconds(600)) == .reload(1))
    }

    @Test("without reloads a crash is final")
    func none() {
        var recovery = recovery { $0.reloads = 0 }
        #expect(recovery.crashed(at: .zero) == .abandon)
    }

    @Test("the process of a page that does not answer in time is ended, once")
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

    @Test("a page that answers is checked again at the next tick")
    func pulse() {
        var recovery = recovery()
        for second in stride(from: 0, to: 50, by: 5) {
            #expect(recovery.tick(at: .seconds(second)) == .ask)
            #expect(recovery.answered() == nil)
        }
    }

    @Test("a late answer shows that the page is responsive")
    func late() {
        var recovery = recovery()
        _ = recovery.tick(at: .seconds(0))
        _ = recovery.tick(at: .seconds(9))
        #expect(recovery.answered() == .responsive)
        #expect(recovery.tick(at: .seconds(10)) == .ask)
    }

    @Test("a page that waits for a dialog does not count as hung, however long it waits")
    func dialog() {
        var recovery = recovery()
        _ = recovery.tick(at: .seconds(0))
        recovery.suspend(true)
        #expect(recovery.tick(at: .seconds(100)) == nil)
        recovery.suspend(false)
        #expect(recovery.tick(at: .seconds(200)) == .ask)
        #expect(recovery.tick(at: .seconds(205)) == nil)
    }

    @Test("a blank page is loaded once more and is then left as it is")
    func blank() {
        var recovery = recovery()
        #expect(recovery.looked(isBlank: false, at: .seconds(0)) == nil)
        #expect(recovery.looked(isBlank: true, at: .seconds(1)) == .reload(1))
        #expect(recovery.looked(isBlank: true, at: .seconds(2)) == nil)
        #expect(recovery.looked(isBlank: false, at: .seconds(3)) == nil)
        #expect(recovery.looked(isBlank: true, at: .seconds(4)) == .reload(2))
    }

    @Test("blank pages are not reloaded if the profile disables it or no reload is left")
    func blankBounds() {
        var silent = recovery { $0.isBlankChecked = false }
        #expect(silent.looked(isBlank: true, at: .zero) == nil)
        var used = recovery { $0.reloads = 1 }
        _ = used.crashed(at: .zero)
        #expect(used.looked(isBlank: true, at: .seconds(1)) == nil)
    }
}
