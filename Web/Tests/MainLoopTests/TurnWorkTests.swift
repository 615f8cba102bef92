import Testing

@testable import MainLoop

@Suite("The largest part of a turn of the main loop") struct TurnWorkTests {
    private var work = TurnWork()

    @Test("is the callback that took more time than each other callback and the toolkit") mutating func own() {
        work.add(3_000, of: "timer")
        work.add(4_000, of: "posts")
        work.add(2_000, of: "timer")
        #expect(work.largest(of: 10_000) == "timer")
        #expect(work.largest(of: 20_000) == "toolkit")
        work.begin()
        #expect(work.largest(of: 10_000) == "toolkit")
    }

    @Test("is the toolkit's own part if that took more; its time does not count for the callbacks")
    mutating func toolkitPart() {
        work.add(3_000, of: "timer")
        work.addToolkit(4_000, for: "paint")
        #expect(work.largest(of: 10_000) == "paint" && work.own == 3_000)
        work.add(2_000, of: "timer")
        #expect(work.largest(of: 10_000) == "timer" && work.own == 5_000)
        work.begin()
        #expect(work.own == 0)
    }

    @Test("is the toolkit for a callback that it calls very often") mutating func batch() {
        for _ in 1..<TurnWork.batch { work.add(10, of: "script-message") }
        #expect(work.largest(of: 10_000) == "toolkit")
        work.add(10, of: "script-message")
        #expect(work.largest(of: 10_000) == "toolkit for script-message")
    }
}
