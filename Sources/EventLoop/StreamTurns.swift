/// Reads a stream in turns with other users of the loop, for a delegate that handles what came together.
@LoopActor
public final class StreamTurns: FairScheduler.Work {
    private let stream: UnixStream
    private let scheduler: FairScheduler
    private let user: FairUser
    private var isOver = false
    /// Goes on with what was read and not handled, before the stream is read again; returns false where some is left.
    public var handlePending: (@LoopActor () -> Bool)?

    /// Takes part until ``close()``.
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

    /// What was read is no answer to anything: ``FairScheduler/noteUnasked(by:)``.
    public func noteUnasked() { scheduler.noteUnasked(by: user) }

    /// Reads nothing until the user's next turn.
    public func wait() {
        stream.suspendReading()
        scheduler.wait(self, of: user)
    }

    /// How long the user may keep the loop in a turn.
    public var share: UInt64 { scheduler.share(of: user) }

    /// The time by which shares are measured, in nanoseconds.
    public var now: UInt64 { scheduler.now }

    /// Counts what the body takes against the user's share.
    public func charged(_ body: () -> Void) {
        guard scheduler.isShared else { return body() }
        let start = now
        body()
        scheduler.charge(now &- start, to: user)
    }

    /// Goes on with what waits, then reads on.
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

    /// The stream is closed.
    public func close() {
        guard !isOver else { return }
        isOver = true
        handlePending = nil
        scheduler.remove(user)
    }
}
