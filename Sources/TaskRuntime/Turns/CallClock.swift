/// The clock that calls use. While input is processed, it is read once for each call. Loop thread only.
///
/// docs/architecture.md explains `@exclusivity(unchecked)`.
final class CallClock {
    private let clock: any RuntimeClock
    /// The last time that was read.
    @exclusivity(unchecked) private(set) var lastReading = RuntimeInstant(nanoseconds: 0)
    /// Whether the clock has been read since the current input began.
    @exclusivity(unchecked) private var hasReading = false
    @exclusivity(unchecked) private var inputStart = RuntimeInstant(nanoseconds: 0)
    @exclusivity(unchecked) private var isTakingInput = false
    /// The turn of the last input for which the clock was read.
    @exclusivity(unchecked) private var inputTurn: UInt64 = 0
    private let turns: LoopTurns

    init(_ clock: any RuntimeClock, _ turns: LoopTurns) {
        self.clock = clock
        self.turns = turns
    }

    /// Begins a series of messages, which ``endInput()`` ends. The clock is read when a call ends, and the next call of
    /// the turn begins at this time, whichever session makes it.
    func beginInput() {
        isTakingInput = true
        hasReading = inputTurn == turns.number
        inputStart = lastReading
    }

    /// Ends the series of messages that ``beginInput()`` began.
    func endInput() {
        isTakingInput = false
        if hasReading { inputTurn = turns.number }
    }

    /// The time that the calls of the current input have taken so far.
    var inputNanoseconds: UInt64 { hasReading ? lastReading.nanoseconds &- inputStart.nanoseconds : 0 }

    /// Notes that a message other than a call, or a part of a long line, has been handled. It also counts for
    /// ``inputNanoseconds``.
    @inline(__always)
    func noteInputTime() {
        if isTakingInput { _ = read() }
    }

    /// The start time of a call that arrives now.
    @inline(__always)
    var callTime: RuntimeInstant { isTakingInput && hasReading ? lastReading : read() }

    /// Reads the clock.
    @inline(__always)
    func read() -> RuntimeInstant {
        lastReading = clock.now
        if !hasReading {
            hasReading = true
            inputStart = lastReading
        }
        return lastReading
    }
}
