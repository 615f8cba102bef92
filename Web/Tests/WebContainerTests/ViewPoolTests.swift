import Testing
import WebContainer

@Suite("The pool of views") struct ViewPoolTests {
    @Test("a view that waits is taken first, and replaced")
    func warm() {
        var pool = ViewPool(target: 1, maximum: 3)
        #expect(pool.missing == 1)
        pool.made()
        #expect(pool.missing == 0)
        #expect(pool.admit() == .warm)
        #expect(pool.missing == 1)
        #expect(pool.admit() == .cold)
        #expect((pool.warmStarts, pool.coldStarts) == (1, 1))
    }

    @Test("no more pages are open than may be, and none waits in vain")
    func maximum() {
        var pool = ViewPool(target: 2, maximum: 2)
        #expect(pool.admit() == .cold)
        #expect(pool.missing == 1)
        pool.made()
        #expect(pool.admit() == .warm)
        #expect(pool.missing == 0)
        #expect(pool.admit() == .busy)
        pool.closed()
        #expect(pool.missing == 1)
        #expect(pool.admit() == .cold)
    }

    @Test("a view whose process has ended does not wait any more")
    func lost() {
        var pool = ViewPool(target: 1, maximum: 2)
        pool.made()
        pool.lost()
        #expect(pool.missing == 1 && pool.admit() == .cold)
    }
}
