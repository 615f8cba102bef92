import TestSupport
import Testing

@testable import TaskRuntime

@Suite("A later process of a plugin is notified of the existing sessions")
struct SessionReportTests {
    private let bench = Bench()
    private let turns: FakeTurns

    init() {
        turns = FakeTurns(bench)
        turns.slow()
    }

    @Test("in steps, once for each session, and in order for sessions that change meanwhile")
    func steps() {
        let clients = (0..<200).map { _ in bench.client() }
        var heard: [(change: SessionChange, number: UInt64)] = []
        var isDone = false
        let report = bench.instance.sessionReport {
            heard.append((.opened, $0.number))
            return true
        } done: {
            isDone = true
        }
        bench.instance.begin(report)
        #expect(heard.count < 100 && !isDone)

        let leaving = clients[150].session
        heard += report.changes(.closed, of: leaving).map { ($0, leaving.number) }
        bench.runtime.hangUp(leaving)
        let late = bench.client().session
        heard += report.changes(.opened, of: late).map { ($0, late.number) }

        #expect(turns.runJobs() > 3)
        #expect(isDone)
        #expect(heard.filter { $0.change == .opened }.map(\.number).sorted() == (1...201).map(UInt64.init))
        #expect(heard.filter { $0.number == leaving.number }.map(\.change) == [.opened, .closed])
        #expect(report.changes(.background, of: clients[0].session) == [.background])
    }

    @Test("until it has ended")
    func gone() {
        _ = (0..<200).map { _ in bench.client() }
        var heard = 0
        var isDone = false
        let report = bench.instance.sessionReport { _ in
            heard += 1
            return heard < 5
        } done: {
            isDone = true
        }
        bench.instance.begin(report)
        _ = turns.runJobs()
        #expect(heard == 5 && isDone)
    }
}
