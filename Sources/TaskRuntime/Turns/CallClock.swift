/// The clock as calls see it: while messages are taken in, it is read once for each call. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
final class CallClock {
    private let clock: any RuntimeClock
    /// The clock as it was last read.
    @exclusivity(unchecked) private(set) var lastReading = RuntimeInstant(nanoseconds: 0)
    /// Whether that was while the input at hand was being taken in.
    @exclusivity(unchecked) private var hasReading = false
    @exclusivity(unchecked) private var inputStart = RuntimeInstant(nanoseconds: 0)
    @exclusivity(unchecked) private var isTakingInput = false

    init(_ clock: any RuntimeClock) { self.clock = clock }

    /// Messages follow, one right after the other, until ``endInput()``. The clock is read when a call ends, and so
    /// when the next one begins.
    func beginInput() {
        isTakingInput = true
        hasReading = false
    }

    /// The input at hand has been taken in.
    func endInput() { isTakingInput = false }

    /// How long the calls of the input at hand have taken so far.
    var inputNanoseconds: UInt64 { hasReading ? lastReading.nanoseconds &- inputStart.nanoseconds : 0 }

    /// A message that is no call has been handled, or a part of a long line: it counts for ``inputNanoseconds`` too.
    @inline(__always)
    func noteInputTime() {
        if isTakingInput { _ = read() }
    }

    /// When a call that comes now begins.
    @inline(__always)
    var callTime: RuntimeInstant { isTakingInput && hasReading ? lastReading : read() }

    /// The present.
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
