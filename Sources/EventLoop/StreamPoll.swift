import CLibuv
import Glibc

/// The epoll set that the loop waits for: the descriptors of streams, the bell, and libuv's own set, which has all
/// others.
///
/// Not one `uv_poll_t` for each stream, because libuv hands out up to 48 times 1,024 events in a turn and looks through
/// all of them with each change. Here a turn hands out few, and the others stay in the kernel until the next one.
///
/// Each event of a stream is reported once (epoll's edges): a stream that does not use it up has itself be watched anew.
/// The kernel does not ask each stream after its event whether there is more: 3 to 10% of the processor time of a call
/// (Echo, 2026-11-28).
///
/// Loop thread only. `@exclusivity(unchecked)`: docs/architecture.md says why.
final class StreamPoll {
    /// What a stream can wait for, in epoll's bits.
    struct Interest: OptionSet {
        let rawValue: UInt32

        static let readable = Interest(rawValue: clibuv_epoll_readable)
        /// The peer will send nothing more. Reported with what is readable.
        static let inputEnd = Interest(rawValue: clibuv_epoll_input_end)
        static let writable = Interest(rawValue: clibuv_epoll_writable)
        /// The other end is gone. Reported with the others too.
        static let hangUp = Interest(rawValue: clibuv_epoll_hang_up)
        /// The socket has failed. Reported with the others too.
        static let failure = Interest(rawValue: clibuv_epoll_failure)
    }

    /// What is no stream.
    enum Other: Int {
        case bell = 1
        case libuv
    }

    /// How many events a turn hands out.
    private static let eventsPerTurn = 256

    private let descriptor = clibuv_epoll_create()
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: eventsPerTurn)
    /// Streams get the events of this turn.
    @exclusivity(unchecked) private(set) var isHandingOut = false
    /// Streams that are to be watched for something else, from the next poll on.
    @exclusivity(unchecked) private var changed: [UnixStream] = []
    /// Streams that were closed while events were handed out, which may be of them.
    @exclusivity(unchecked) private var closed: [UnixStream] = []

    init() {
        precondition(descriptor >= 0, "The loop has no epoll set: error \(errno)")
    }

    // MARK: The set

    /// Watches a descriptor that is no stream, for input, for as long as the process lives.
    func add(_ descriptor: Int32, as other: Other) {
        let status = clibuv_epoll_change(
            self.descriptor, EPOLL_CTL_ADD, descriptor, clibuv_epoll_readable,
            // No stream has such an address.
            UnsafeMutableRawPointer(bitPattern: other.rawValue))
        precondition(status == 0, "The loop cannot watch a descriptor: error \(errno)")
    }

    /// Has a stream be watched, for what it waits for instead of what it waited for before; nothing: no longer. What is
    /// there of it already is reported, too, be it for the second time.
    ///
    /// - Parameter stream: Is to be alive until it is watched for nothing, or ``keepUntilHandedOut(_:)`` was called.
    /// - Returns: 0, or -1 with `errno`.
    @discardableResult
    func change(_ stream: UnixStream, from old: Interest, to new: Interest) -> Int32 {
        let operation = old.isEmpty ? EPOLL_CTL_ADD : new.isEmpty ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
        return clibuv_epoll_change(
            descriptor, operation, stream.descriptor, new.rawValue | clibuv_epoll_once,
            Unmanaged.passUnretained(stream).toOpaque())
    }

    /// The stream was closed: it lives as long as there may be an event for it.
    func keepUntilHandedOut(_ stream: UnixStream) {
        if isHandingOut { closed.append(stream) }
    }

    /// Waits for events.
    ///
    /// - Parameter milliseconds: For how long; negative: until one comes.
    /// - Returns: how many of them ``handOut(_:)`` is to hand out.
    func wait(milliseconds: Int32) -> Int {
        // Negative where a signal came.
        max(0, Int(clibuv_epoll_wait(descriptor, events, Int32(Self.eventsPerTurn), milliseconds)))
    }

    /// Hands so many events to their streams.
    ///
    /// - Returns: what else had one.
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
                    // Not retained: it keeps itself until it is closed, and `closed` does until the last event.
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

    /// The stream is asked at the end of the turn what it waits for.
    func changeAtTurnEnd(_ stream: UnixStream) { changed.append(stream) }

    /// The turn ends.
    func endTurn() {
        guard !changed.isEmpty else { return }
        LoopActor.assumeIsolated(passing: self) { poll in
            for stream in poll.changed { stream.endTurn() }
            poll.changed.removeAll(keepingCapacity: true)
        }
    }
}
