/// A timeout for the answer of another process. It fires once when this process has waited for that time.
///
/// Time in which the machine or this process did not run does not count: the answer may have arrived and wait to be
/// read, or the other process may not have run either. Time in which the other process was runnable but the kernel ran
/// others does not count either. After ten times the timeout it fires in any case, unless a debugger is attached to the
/// other process: the wait continues as long as that is so. The owner must close it when the answer has arrived.
@LoopActor
public final class ProcessTimeout {
    private let length: Duration
    private let pid: Int32
    private var timeout: TimeoutParts
    private var share: ProcessorShare
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - timeout: The time to wait.
    ///   - pid: The other process, a child that was not reaped yet.
    ///   - fire: Called once, after ``close()``.
    public init(_ timeout: Duration, for pid: Int32, _ fire: @escaping @LoopActor () -> Void) {
        length = timeout
        self.pid = pid
        self.timeout = TimeoutParts(timeout, from: EventLoop.now)
        share = ProcessorShare(of: pid)
        timer = LoopTimer { [weak self] in self?.endPart(fire) }
        timer?.schedule(at: self.timeout.next)
    }

    /// Cancels the timeout.
    public func close() {
        timer?.close()
        timer = nil
    }

    private func endPart(_ fire: @LoopActor () -> Void) {
        let isHeldUp = share.isStarved(over: timeout.part)
        guard timeout.endPart(at: EventLoop.now, isHeldUp: isHeldUp) else {
            timer?.schedule(at: timeout.next)
            return
        }
        if ProcFile.isTraced(pid) {
            timeout = TimeoutParts(length, from: EventLoop.now)
            timer?.schedule(at: timeout.next)
            return
        }
        close()
        fire()
    }
}

/// A wait in parts, with a maximum of ten times its length. A part is repeated if the other process was starved in it,
/// or if the part ends late by its length or by 250 ms, whichever is longer: a busy loop does not cause that.
struct TimeoutParts {
    private static let parts = 4
    private static let usualLateness = Duration.milliseconds(250)
    /// The maximum number of parts, including those that do not count: a process can cause the kernel to prefer others
    /// for ever.
    private static let maximum = 40

    let part: Duration
    private var left = TimeoutParts.parts
    private var ended = 0
    /// The end of the current part.
    private(set) var next: MonotonicInstant

    init(_ timeout: Duration, from start: MonotonicInstant) {
        part = timeout / Self.parts
        next = start + part
    }

    /// Records the end of the current part, possibly a late one. Returns true if all parts have ended.
    mutating func endPart(at now: MonotonicInstant, isHeldUp: Bool = false) -> Bool {
        if !isHeldUp, now < next + max(part, Self.usualLateness) { left -= 1 }
        next = now + part
        ended += 1
        return left <= 0 || ended >= Self.maximum
    }
}
