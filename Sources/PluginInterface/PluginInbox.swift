internal import BridgeJSON
internal import CTaskPlugin
import Glibc
import Synchronization

/// What a plugin has sent and what has not taken effect yet, as a copy.
enum PluginMessage {
    case reply(trestle_call, [UInt8])
    case failure(trestle_call, BridgeError)
    case progress(trestle_call, [UInt8])
    case line(level: UInt32, text: String, trestle_call)
    case event(PluginEvent)
    /// A function that the plugin posted.
    case function(@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer?)
}

/// The messages of one plugin in the order in which they were sent, from all of its threads. Lives as long as the
/// process.
///
/// Each message has one turn on the loop thread, which takes the first message that is left. What the loop thread sends
/// takes effect immediately only while no turn is due: whatever it has learned of another thread, the messages that
/// this thread sent before are in here, so that nothing overtakes them, by whatever way the threads speak to each
/// other.
///
/// A mutex of pthread's rather than `Mutex`: the thread sanitizer knows it.
struct PluginInbox {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Behind the mutex.
    private let incoming = UnsafeMutablePointer<[PluginMessage]>.allocate(capacity: 1)
    /// What the loop thread has taken from there, the next one last. Loop thread.
    private let taken = UnsafeMutablePointer<[PluginMessage]>.allocate(capacity: 1)
    /// Turns that have not begun.
    private let turns = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    /// An array that has held more gives its memory back.
    private static let keptCapacity = 1_024

    init() {
        pthread_mutex_init(mutex, nil)
        incoming.initialize(to: [])
        taken.initialize(to: [])
        turns.initialize(to: Atomic(0))
    }

    /// Whether nothing that was sent before, by any thread that this one has learned of, is still to take effect. Any
    /// thread.
    @inline(__always)
    var isEmpty: Bool { turnsDue == 0 }

    /// How many turns have not begun: at least as many as there are messages, at every moment. Any thread.
    @inline(__always)
    var turnsDue: Int { turns.pointee.load(ordering: .acquiring) }

    /// Adds a message; the code that adds one gives the loop thread a turn for it. Any thread.
    func append(_ message: PluginMessage) {
        // Counted first: a turn takes the first message, which may be another thread's, and what is left behind it must
        // have a turn that is due.
        turns.pointee.add(1, ordering: .acquiringAndReleasing)
        pthread_mutex_lock(mutex)
        incoming.pointee.append(message)
        pthread_mutex_unlock(mutex)
    }

    /// A turn begins. Loop thread.
    func beginTurn() {
        turns.pointee.subtract(1, ordering: .acquiringAndReleasing)
    }

    /// The first message; nil where those that were there took effect before their turn. Loop thread.
    func takeFirst() -> PluginMessage? {
        if taken.pointee.isEmpty { takeIncoming() }
        return taken.pointee.popLast()
    }

    private func takeIncoming() {
        if taken.pointee.capacity > Self.keptCapacity { taken.pointee = [] }
        pthread_mutex_lock(mutex)
        swap(&incoming.pointee, &taken.pointee)
        pthread_mutex_unlock(mutex)
        taken.pointee.reverse()
    }
}
