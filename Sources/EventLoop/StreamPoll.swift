import CLibuv
import Glibc

/// The epoll set that the loop waits for: the descriptors of streams, the bell, and libuv's own set, which contains all
/// others.
///
/// There is no `uv_poll_t` for each stream, because libuv delivers up to 48 times 1,024 events in a turn and searches
/// all of them at each change. Here a turn delivers few events, and the others stay in the kernel until the next one.
///
/// Each event of a stream is reported once (edge-triggered): a stream that does not consume all input registers itself
/// again. So the kernel does not check each stream again after its event, which saves 3 to 10% of the processor time of
/// a call (Echo, 2026-11-28).
///
/// Loop thread only. `@exclusivity(unchecked)`: docs/architecture.md explains why.
final class StreamPoll {
    /// The conditions that a stream can wait for, in epoll's bits.
    struct Interest: OptionSet {
        let rawValue: UInt32

        static let readable = Interest(rawValue: clibuv_epoll_readable)
        /// The peer will send no more bytes. Reported together with readable bytes.
        static let inputEnd = Interest(rawValue: clibuv_epoll_input_end)
        static let writable = Interest(rawValue: clibuv_epoll_writable)
        /// The other end is closed. Reported with any interest.
        static let hangUp = Interest(rawValue: clibuv_epoll_hang_up)
        /// The socket has failed. Reported with any interest.
        static let failure = Interest(rawValue: clibuv_epoll_failure)
    }

    /// The descriptors that are not streams.
    enum Other: Int {
        case bell = 1
        case libuv
    }

    /// The maximum number of events that a turn delivers.
    private static let eventsPerTurn = 256

    private let descriptor = clibuv_epoll_create()
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: eventsPerTurn)
    /// Whether the events of this turn are being delivered.
    @exclusivity(unchecked) private(set) var isHandingOut = false
    /// Streams whose interest has changed and must be registered before the next poll.
    @exclusivity(unchecked) private var changed: [UnixStream] = []
    /// Streams that were closed while events were delivered, which may include their events.
    @exclusivity(unchecked) private var closed: [UnixStream] = []

    init() {
        precondition(descriptor >= 0, "The loop has no epoll set: error \(errno)")
    }

    // MARK: The set

    /// Watches a descriptor that is not a stream for input, until the process ends.
    func add(_ descriptor: Int32, as other: Other) {
        let status = clibuv_epoll_change(
            self.descriptor, EPOLL_CTL_ADD, descriptor, clibuv_epoll_readable,
            // No stream has such an address.
            UnsafeMutableRawPointer(bitPattern: other.rawValue))
        precondition(status == 0, "The loop cannot watch a descriptor: error \(errno)")
    }

    /// Registers a stream with a new interest; an empty one removes it. Conditions that hold already are reported, too,
    /// even if they were reported before.
    ///
    /// - Parameter stream: Must stay alive until it is removed, or ``keepUntilHandedOut(_:)`` was called.
    /// - Returns: 0, or -1 with `errno`.
    @discardableResult
    func change(_ stream: UnixStream, from old: Interest, to new: Interest) -> Int32 {
        let operation = old.isEmpty ? EPOLL_CTL_ADD : new.isEmpty ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
        return clibuv_epoll_change(
            descriptor, operation, stream.descriptor, new.rawValue | clibuv_epoll_once,
            Unmanaged.passUnretained(stream).toOpaque())
    }

    /// Keeps a closed stream alive as long as there may be an event for it.
    func keepUntilHandedOut(_ stream: UnixStream) {
        if isHandingOut { closed.append(stream) }
    }

    /// Waits for events.
    ///
    /// - Parameter milliseconds: The maximum time; negative for no limit.
    /// - Returns: The number of events for ``handOut(_:)``.
    func wait(milliseconds: Int32) -> Int {
        // Negative if a signal interrupted the wait.
        max(0, Int(clibuv_epoll_wait(descriptor, events, Int32(Self.eventsPerTurn), milliseconds)))
    }

    /// Delivers `count` events to their streams.
    ///
    /// - Returns: The other descriptors that had an event.
    func handOut(_ count: Int) -> (bell: Bool, libuv: Bool) {
        isHandingOut = true
        let others = LoopActor.assumeIsolated(passing: UnsafeBufferPointer(start: events, count: count)) { events in
            var others = (bell: false, libuv: false)
            for event in events {
                switch Other(rawValue: Int(bitPattern: event.data.ptr)) {
                case .bell: others.bell = true
                case .libuv: others.libuv = true
                case nil:
                    guard let stream = event.data.ptr else { continue }
                    // Not retained: the stream keeps itself alive until it is closed, and `closed` does until the last
                    // event.
                    Unmanaged<UnixStream>.fromOpaque(stream).withUnowned { $0.ready(Interest(rawValue: event.events)) }
                }
            }
            return others
        }
        isHandingOut = false
        closed.removeAll(keepingCapacity: true)
        return others
    }

    // MARK: Changes that wait

    /// Schedules a call of the stream's `endTurn` at the end of the turn, in which it updates its interest.
    func changeAtTurnEnd(_ stream: UnixStream) { changed.append(stream) }

    /// Applies the changes at the end of the turn.
    func endTurn() {
        guard !changed.isEmpty else { return }
        LoopActor.assumeIsolated(passing: self) { poll in
            for stream in poll.changed { stream.endTurn() }
            poll.changed.removeAll(keepingCapacity: true)
        }
    }
}
