internal import CTaskPlugin
internal import Synchronization

/// The raw calls that are still open after their `run`, and those of them that were cancelled. `Call.isCancelled` reads
/// it.
///
/// A call that is answered inside `run`, on the loop thread, uses no lock. Any other call is added when `run` has
/// returned, or earlier if it is answered or cancelled before that. It is removed when `run` has returned and its reply
/// was sent, on any thread. So no entry remains.
///
/// `@unchecked`: `running`, `outer` and `hasCancelledOnStack` are used on the loop thread only; the mutex protects the
/// rest.
final class RawCallTable: @unchecked Sendable {  // mutex, and the loop thread; see above
    private enum State {
        /// The call's `run` is on the stack, and its reply was sent elsewhere, or it was cancelled without a reply.
        case answeredEarly, cancelledEarly
        /// The call waits for its reply.
        case waiting, cancelled
    }

    /// The call whose `run` is on top of the stack; 0 if there is none, or it was answered there.
    @exclusivity(unchecked) private var running: trestle_call = 0
    /// The calls below it that were not yet answered when the calls above them began.
    @exclusivity(unchecked) private var outer: [trestle_call] = []
    /// Whether one of these calls may have been cancelled, so that its answer must look it up in `states`.
    @exclusivity(unchecked) private var hasCancelledOnStack = false
    private let states = Mutex<[trestle_call: State]>([:])
    /// The number of cancelled calls in `states`. While there are none, ``isCancelled(_:)`` takes no lock: threads that
    /// ask for each call would otherwise wait for the loop thread, which adds and removes calls. Changed with the lock.
    private let cancelledCount = Atomic<Int>(0)

    /// Runs `body`, the task's `run`, as the call `handle`. Loop thread.
    func run(_ handle: trestle_call, _ body: () -> Void) {
        // A reply may run other plugins, and one of them may call this plugin again.
        let below = running
        if below != 0 { outer.append(below) }
        running = handle
        body()
        let isAnswered = running != handle
        if below != 0 { outer.removeLast() } else if outer.isEmpty { hasCancelledOnStack = false }
        running = below
        if !isAnswered { keep(handle) }
    }

    /// Adds a call that was not answered before the task's `run` returned.
    @inline(never)
    private func keep(_ handle: trestle_call) {
        states.withLock { states in
            switch states[handle] {
            case .answeredEarly: states[handle] = nil
            case .cancelledEarly: states[handle] = .cancelled
            default: states[handle] = .waiting
            }
        }
    }

    /// Removes a call whose reply is being sent. Any thread.
    func end(_ handle: trestle_call, on host: Host) {
        if host.isLoopThread, running == handle, !hasCancelledOnStack {
            running = 0
        } else {
            endElsewhere(handle)
        }
    }

    @inline(never)
    private func endElsewhere(_ handle: trestle_call) {
        states.withLock { states in
            switch states[handle] {
            case .waiting: states[handle] = nil
            case .cancelled:
                states[handle] = nil
                cancelledCount.subtract(1, ordering: .relaxed)
            case .cancelledEarly:
                states[handle] = .answeredEarly
                cancelledCount.subtract(1, ordering: .relaxed)
            default: states[handle] = .answeredEarly
            }
        }
    }

    /// Marks an unanswered call as cancelled. Loop thread.
    func cancel(_ handle: trestle_call) {
        let isRunning = running == handle || outer.contains(handle)
        states.withLock { states in
            switch states[handle] {
            case .waiting: states[handle] = .cancelled
            case nil where isRunning: states[handle] = .cancelledEarly
            default: return
            }
            cancelledCount.add(1, ordering: .releasing)
        }
        if isRunning { hasCancelledOnStack = true }
    }

    /// Returns whether a call was cancelled. Any thread.
    func isCancelled(_ handle: trestle_call) -> Bool {
        guard cancelledCount.load(ordering: .acquiring) > 0 else { return false }
        return states.withLock { states in
            switch states[handle] {
            case .cancelled, .cancelledEarly: true
            default: false
            }
        }
    }
}
