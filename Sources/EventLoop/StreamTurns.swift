/// Reads a stream in turns with other users of the loop, for a delegate that handles input in batches.
@LoopActor
public final class StreamTurns: FairScheduler.Work {
    private let stream: UnixStream
    private let scheduler: FairScheduler
    private let user: FairUser
    private var isOver = false
    /// Continues with unhandled input before the stream is read again. Returns false if some input is left.
    public var handlePending: (@LoopActor () -> Bool)?

    /// Registers the stream with the scheduler until ``close()``.
    public init(_ stream: UnixStream, _ scheduler: FairScheduler, as name: FairUser.Name) {
        self.stream = stream
        self.scheduler = scheduler
        user = scheduler.add(name)
    }

    /// Whether the stream may be read now: ``UnixStreamDelegate/mayRead()``.
    public func mayRead() -> Bool {
        let mayRead = scheduler.mayRead(user)
        stream.maximumReadBytes = scheduler.readBytes
        if mayRead { return true }
        wait()
        return false
    }

    /// Records that the input was not an answer: ``FairScheduler/noteUnasked(by:)``.
    public func noteUnasked() { scheduler.noteUnasked(by: user) }

    /// Suspends reading until the user's next turn.
    public func wait() {
        stream.suspendReading()
        scheduler.wait(self, of: user)
    }

    /// The time for which the user may occupy the loop in a turn, in nanoseconds.
    public var share: UInt64 { scheduler.share(of: user) }

    /// The time for the measurement of shares, in nanoseconds.
    public var now: UInt64 { scheduler.now }

    /// Runs the body, and charges its time to the user's share.
    public func charged(_ body: () -> Void) {
        guard scheduler.isShared else { return body() }
        let start = now
        body()
        scheduler.charge(now &- start, to: user)
    }

    /// Continues with waiting input, then reads more.
    public func takeTurn() {
        guard !isOver else { return }
        if let handlePending, !handlePending() {
            if !isOver { wait() }
            return
        }
        guard !isOver else { return }
        stream.startReading()
        stream.readNow()
    }

    /// Removes the stream from the scheduler. Called when the stream is closed.
    public func close() {
        guard !isOver else { return }
        isOver = true
        handlePending = nil
        scheduler.remove(user)
    }
}
