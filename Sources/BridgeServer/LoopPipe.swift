import BridgeJSON
import BridgeMessage
import EventLoop
import TaskRuntime

/// A stream's pipe on the loop. The daemon reads it in the turns of the stream's user.
@LoopActor
final class LoopPipe {
    /// The maximum number of bytes of one read: as many as a pipe holds.
    private static let readBytes = 64 << 10

    private let scheduler: FairScheduler
    private let user: FairUser
    private let events: StreamPipeEvents
    /// The ends that are not in use yet.
    private var free: PipeEnds
    /// The end that the daemon itself uses because the other side uses messages; `nil` if it uses none.
    private var own: PipeEnd?
    /// The number of bytes that may be read now.
    private var maximumBytes = 0
    /// Whether the pipe waits for bytes or for a turn.
    private var isWaiting = false
    /// Whether a turn is in progress, which continues with the bytes that may be read next.
    private var isTakingTurn = false
    private var isClosed = false

    /// - Throws: `busy` if no descriptor is available.
    init(_ scheduler: FairScheduler, _ uid: UInt32, _ events: StreamPipeEvents) throws(BridgeError) {
        do throws(SystemError) {
            free = try PipeEnds()
        } catch {
            throw BridgeError(
                .busy, "no descriptor is left for the stream: use bridge.stream.read and bridge.stream.write",
                data: ["started": false], isTransient: true)
        }
        self.scheduler = scheduler
        self.events = events
        user = scheduler.add(.uid(uid))
    }

    /// Makes `end` the end that the daemon uses. Returns the current one if there is one, `nil` if there is none.
    private func use(_ end: consuming UnixSocket?) -> PipeEnd? {
        guard own == nil, let end else { return own }
        own = try? PipeEnd(end)
        return own
    }

    // MARK: Reading

    private func awaitBytes() {
        guard !isWaiting, !isTakingTurn, maximumBytes > 0, let own else { return }
        isWaiting = true
        own.awaitBytes { [unowned self] in
            if scheduler.mayRead(user) { takeTurn() } else { scheduler.wait(self, of: user) }
        }
    }

    /// Reads once.
    ///
    /// - Returns: Whether there may be more bytes.
    private func readOnce() -> Bool {
        guard !isClosed, maximumBytes > 0, let own else { return false }
        let limit = min(maximumBytes, Self.readBytes, scheduler.readBytes)
        do throws(SystemError) {
            guard let bytes = try own.read(limit) else { return false }
            maximumBytes = bytes.isEmpty ? 0 : maximumBytes - bytes.count
            // This call sets how many bytes may be read next.
            events.bytes(bytes)
            return bytes.count == limit
        } catch {
            maximumBytes = 0
            events.bytes([])
            return false
        }
    }

    private func charged(_ body: () -> Void) {
        guard scheduler.isShared else { return body() }
        let start = scheduler.now
        body()
        scheduler.charge(scheduler.now &- start, to: user)
    }
}

extension LoopPipe: FairScheduler.Work {
    /// Reads until no bytes are left or the user's share of the turn is spent; reads once if there is only one user.
    func takeTurn() {
        isWaiting = false
        isTakingTurn = true
        var mayGoOn = true
        while mayGoOn {
            mayGoOn = false
            charged { mayGoOn = readOnce() }
            mayGoOn = mayGoOn && scheduler.isShared && scheduler.remainingShare(of: user) > 0
        }
        isTakingTurn = false
        awaitBytes()
    }
}

extension LoopPipe: @LoopActor StreamPipe {
    func giveEnd(to side: StreamSide) -> PassedDescriptor? {
        let end = side == .writer ? free.takeWriter() : free.takeReader()
        guard let end else { return nil }
        return PassedDescriptor(adopting: end.release())
    }

    func read(_ maximumBytes: Int) {
        self.maximumBytes = maximumBytes
        guard maximumBytes > 0, use(free.takeReader()) != nil else { return }
        awaitBytes()
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !isClosed, let own = use(free.takeWriter()) else { return 0 }
        do throws(SystemError) {
            let count = try own.write(bytes)
            if count < bytes.count { own.awaitRoom { [unowned self] in events.room() } }
            return count
        } catch {
            EventLoop.post { [weak self] in
                if let self, !isClosed { events.broken() }
            }
            return 0
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        own?.close()
        own = nil
        _ = free.takeReader()
        _ = free.takeWriter()
        scheduler.remove(user)
    }
}
