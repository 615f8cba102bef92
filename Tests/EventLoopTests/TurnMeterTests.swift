import Testing

@testable import EventLoop

/// The clocks of a loop, advanced by hand.
private struct Clocks {
    var meter = TurnMeter()
    var now: UInt64 = 1_000_000_000
    var cpu: UInt64 = 0
    private(set) var readings = 0

    /// Simulates a turn of a duration, in which the thread works for all or a part of the time. Returns the reported
    /// CPU time in ms; `nil` if none is reported.
    mutating func turn(milliseconds: Double, working: Double? = nil) -> Double? {
        let start = now
        now += UInt64(milliseconds * 1e6)
        cpu += UInt64((working ?? milliseconds) * 1e6)
        var reads = 0
        defer { readings += reads }
        return meter.note(from: start, to: now) { [cpu] in
            reads += 1
            return cpu
        }
        .map { Double($0) / 1e6 }
    }
}

@Suite("The CPU time of slow turns")
struct TurnMeterTests {
    @Test("A turn of more than 5 ms is reported with its thread's CPU time, and a shorter one is not")
    func slow() {
        var clocks = Clocks()
        _ = clocks.turn(milliseconds: 1)
        #expect(clocks.turn(milliseconds: 5) == nil)
        #expect(clocks.turn(milliseconds: 40) == 40)
        #expect(clocks.turn(milliseconds: 30, working: 2) == 2)
        #expect(clocks.turn(milliseconds: 6) == 6)
    }

    @Test("A slow turn's CPU time includes less than 1 ms of the turns before it")
    func mark() {
        var clocks = Clocks()
        _ = clocks.turn(milliseconds: 3)
        for _ in 0..<8 { #expect(clocks.turn(milliseconds: 0.1) == nil) }
        let cpuTime = clocks.turn(milliseconds: 25)
        #expect(cpuTime ?? 0 >= 25 && cpuTime ?? 0 < 26)
        clocks.now += 3_600_000_000_000
        #expect(clocks.turn(milliseconds: 25) == 25)
    }

    @Test("The CPU clock is read at most once per millisecond of short turns")
    func thrift() {
        var clocks = Clocks()
        for _ in 0..<10_000 { _ = clocks.turn(milliseconds: 0.01) }
        #expect(clocks.readings <= 101)
    }
}

@Suite("A slow turn of the loop", .timeLimit(.minutes(20)), .serialized)
struct SlowTurnTests {
    @Test("The callback for slow turns gets a slow turn with its CPU time")
    func reported() async {
        let turn = await withCheckedContinuation { continuation in
            EventLoop.post { @LoopActor in Self.work { continuation.resume(returning: $0) } }
        }
        #expect(turn.duration > .milliseconds(5))
        #expect(turn.cpuTime > .zero)
    }

    /// Works for more than 5 ms of the meter's clock and reports the turn. Does this at the turn's end, so that no
    /// other code of this process replaces the callback before the turn ends.
    @LoopActor
    private static func work(_ report: @escaping @LoopActor (SlowTurn) -> Void) {
        let others = EventLoop.onSlowTurn
        var hook: TurnEndHook?
        hook = EventLoop.atTurnEnd {
            hook?.remove()
            EventLoop.onSlowTurn = { turn in
                EventLoop.onSlowTurn = others
                report(turn)
            }
            let end = MonotonicInstant.now() + .milliseconds(6)
            while MonotonicInstant.now() < end {}
        }
    }
}
