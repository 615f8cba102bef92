import Testing

@testable import TaskHosts

/// What a process has to do before it comes to a ping.
struct PingBacklogTests {
    /// What each look shows.
    private func looks(_ backlog: PingBacklog, _ taken: UInt64...) -> [Bool] {
        var backlog = backlog
        return taken.map { backlog.hasMoved(to: $0, answers: 7) }
    }

    @Test("A process that had read all before the ping has not moved, whatever is sent later")
    func nothingBefore() {
        let backlog = PingBacklog(unread: 0, end: 1050, taken: 1000, answers: 7)
        #expect(looks(backlog, 1050) == [false])
        #expect(looks(backlog, 9000) == [false])
    }

    @Test("A process that reads what was sent before the ping moves, and has one look more once it has read the ping")
    func readsOn() {
        let backlog = PingBacklog(unread: 4000, end: 5050, taken: 1000, answers: 7)
        #expect(looks(backlog, 1001, 3000, 7000, 9000) == [true, true, true, false])
    }

    @Test("A process that has stopped reading has not moved")
    func stopped() {
        let backlog = PingBacklog(unread: 4000, end: 5050, taken: 1000, answers: 7)
        #expect(looks(backlog, 3000, 3000) == [true, false])
    }

    @Test("A process that answers anything has moved, whatever it has read")
    func answers() {
        var backlog = PingBacklog(unread: 0, end: 1050, taken: 1000, answers: 7)
        let moved = [8, 8, 9].map { backlog.hasMoved(to: 1050, answers: $0) }
        #expect(moved == [true, false, true])
    }
}
