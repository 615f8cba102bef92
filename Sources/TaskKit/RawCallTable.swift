internal import CTaskPlugin
internal import Synchronization

/// Which raw calls outlive their `run`, and which of those were cancelled: what `Call.isCancelled` looks up.
///
/// A call that is answered inside `run`, on the loop thread, touches no lock. Any other is entered when `run` has
/// returned, or before where it is answered or cancelled meanwhile, and removed when both `run` has returned and its
/// reply was given, on whatever thread. Nothing is left behind.
///
/// `@unchecked`: `running`, `outer` and `hasCancelledOnStack` are read and written on the loop thread only, everything
/// else stands behind the mutex.
final class RawCallTable: @unchecked Sendable {  // mutex, and the loop thread; see above
    private enum State {
        /// Its `run` is on the stack; and its reply was given elsewhere, or it was cancelled without one.
        case answeredEarly, cancelledEarly
        /// It waits for its reply.
        case waiting, cancelled
    }

    /// The call whose `run` is on top of the stack; 0: none, or one that was answered there.
    @exclusivity(unchecked) private var running: trestle_call = 0
    /// Those below it that were not answered when the ones above came.
    @exclusivity(unchecked) private var outer: [trestle_call] = []
    /// One of those may have been cancelled, and has to be looked for when it is answered.
    @exclusivity(unchecked) private var hasCancelledOnStack = false
    private let states = Mutex<[trestle_call: State]>([:])

    /// Runs `body`, the task's `run`, as the call `handle`. Loop thread.
    func run(_ handle: trestle_call, _ body: () -> Void) {
        // A reply may run other plugins, and one of them may call this one again.
        let below = running
        if below != 0 { outer.append(below) }
        running = handle
        body()
        let isAnswered = running != handle
        if below != 0 { outer.removeLast() } else if outer.isEmpty { hasCancelledOnStack = false }
        running = below
        if !isAnswered { keep(handle) }
    }

    /// The task's `run` has returned, and the call has not been answered there.
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

    /// The call's reply is being given. Any thread.
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
            case .waiting, .cancelled: states[handle] = nil
            default: states[handle] = .answeredEarly
            }
        }
    }

    /// Marks a call that has not been answered. Loop thread.
    func cancel(_ handle: trestle_call) {
        let isRunning = running == handle || outer.contains(handle)
        states.withLock { states in
            switch states[handle] {
            case .waiting: states[handle] = .cancelled
            case nil where isRunning: states[handle] = .cancelledEarly
            default: break
            }
        }
        if isRunning { hasCancelledOnStack = true }
    }

    /// Any thread.
    func isCancelled(_ handle: trestle_call) -> Bool {
        states.withLock { states in
            switch states[handle] {
            case .cancelled, .cancelledEarly: true
            default: false
            }
        }
    }
}
