internal import BridgeJSON
internal import CTaskPlugin
import Glibc
import Synchronization

/// A copy of a message that a plugin has sent and that has not taken effect yet.
enum PluginMessage {
    case reply(trestle_call, [UInt8])
    case failure(trestle_call, BridgeError)
    case progress(trestle_call, [UInt8])
    case line(level: UInt32, text: String, trestle_call)
    case event(PluginEvent)
    /// A function that the plugin posted.
    case function(@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer?)
}

/// The messages of all threads of one plugin, in the order in which they were sent. Exists as long as the process.
///
/// Each message has one turn on the loop thread; a turn takes the first remaining message. A message of the loop thread
/// takes effect immediately only if no turn is due. If the loop thread has been notified by another thread, in any way,
/// the earlier messages of that thread are in this inbox, so no message overtakes them.
///
/// It uses a pthread mutex, not `Mutex`, because the thread sanitizer supports it.
struct PluginInbox {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// The new messages, guarded by the mutex.
    private let incoming = UnsafeMutablePointer<[PluginMessage]>.allocate(capacity: 1)
    /// The messages that the loop thread has taken from ``incoming``, the next one last. Loop thread.
    private let taken = UnsafeMutablePointer<[PluginMessage]>.allocate(capacity: 1)
    /// The number of turns that have not begun.
    private let turns = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    /// The maximum capacity of an array that is kept; a larger one is freed.
    private static let keptCapacity = 1_024

    init() {
        pthread_mutex_init(mutex, nil)
        incoming.initialize(to: [])
        taken.initialize(to: [])
        turns.initialize(to: Atomic(0))
    }

    /// Whether all earlier messages have taken effect, of this thread and of all threads that have notified it. Any
    /// thread.
    @inline(__always)
    var isEmpty: Bool { turnsDue == 0 }

    /// The number of turns that have not begun. It is never less than the number of messages. Any thread.
    @inline(__always)
    var turnsDue: Int { turns.pointee.load(ordering: .acquiring) }

    /// Adds a message. The caller then posts a turn for it to the loop thread. Any thread.
    func append(_ message: PluginMessage) {
        // The turn is counted first: a turn may take the message of another thread, and each message that is left must
        // have a turn that is due.
        turns.pointee.add(1, ordering: .acquiringAndReleasing)
        pthread_mutex_lock(mutex)
        incoming.pointee.append(message)
        pthread_mutex_unlock(mutex)
    }

    /// Counts a turn that begins. Loop thread.
    func beginTurn() {
        turns.pointee.subtract(1, ordering: .acquiringAndReleasing)
    }

    /// Removes and returns the first message; `nil` if all have taken effect before their turn. Loop thread.
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
