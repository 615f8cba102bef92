import Testing

@testable import TaskHosts

/// Tests of the input that a process must read before it reaches a ping.
struct PingBacklogTests {
    /// Returns the result of each check.
    private func looks(_ backlog: PingBacklog, _ taken: UInt64...) -> [Bool] {
        var backlog = backlog
        return taken.map { backlog.hasMoved(to: $0, answers: 7) }
    }

    @Test("A process that had no unread input before the ping makes no progress, even if more is sent later")
    func nothingBefore() {
        let backlog = PingBacklog(unread: 0, end: 1050, taken: 1000, answers: 7)
        #expect(looks(backlog, 1050) == [false])
        #expect(looks(backlog, 9000) == [false])
    }

    @Test("A process that reads input sent before the ping makes progress, until one check after the ping")
    func readsOn() {
        let backlog = PingBacklog(unread: 4000, end: 5050, taken: 1000, answers: 7)
        #expect(looks(backlog, 1001, 3000, 7000, 9000) == [true, true, true, false])
    }

    @Test("A process that has stopped reading makes no progress")
    func stopped() {
        let backlog = PingBacklog(unread: 4000, end: 5050, taken: 1000, answers: 7)
        #expect(looks(backlog, 3000, 3000) == [true, false])
    }

    @Test("A process that answers any request makes progress, even if it reads nothing")
    func answers() {
        var backlog = PingBacklog(unread: 0, end: 1050, taken: 1000, answers: 7)
        let moved = [8, 8, 9].map { backlog.hasMoved(to: 1050, answers: $0) }
        #expect(moved == [true, false, true])
    }
}
