import Testing
import WebContainer

@Suite("The pool of views") struct ViewPoolTests {
    @Test("a waiting view is used first, and is replaced")
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

    @Test("the number of open pages is limited, and no view is kept that could not be used")
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

    @Test("a view whose process has ended is not used")
    func lost() {
        var pool = ViewPool(target: 1, maximum: 2)
        pool.made()
        pool.lost()
        #expect(pool.missing == 1 && pool.admit() == .cold)
    }
}
