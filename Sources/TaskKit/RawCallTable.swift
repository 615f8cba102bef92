internal import CTaskPlugin
internal import Synchronization

/// Which raw calls outlive their `run`, and which of those were cancelled: what `Call.isCancelled` looks up.
///
/// A call that is answered inside `run`, on the loop thread, touches one variable and no lock. Any other is entered
/// when `run` has returned and removed when its reply is given, on whatever thread; the two may come in either order,
/// and neither leaves anything behind.
///
/// `@unchecked`: `running` is read and written on the loop thread only, everything else stands behind the mutex.
final class RawCallTable: @unchecked Sendable {
    private struct Entries {
        /// The calls that wait for their reply; true: cancelled.
        var waiting: [trestle_call: Bool] = [:]
        /// The calls whose reply came, other than inline, before their `run` returned.
        var early: Set<trestle_call> = []
    }

    /// The call whose `run` is on the stack and has not replied; 0: none.
    private var running: trestle_call = 0
    private let entries = Mutex(Entries())

    /// Runs `body`, the task's `run`, as the call `handle`. Loop thread.
    func run(_ handle: trestle_call, _ body: () -> Void) {
        // A reply may run other plugins, and one of them may call this one again.
        let outer = running
        running = handle
        body()
        let isAnswered = running != handle
        running = outer
        if isAnswered { return }
        entries.withLock { entries in
            if entries.early.remove(handle) == nil { entries.waiting[handle] = false }
        }
    }

    /// The call's reply is being given. Any thread.
    func end(_ handle: trestle_call, on host: Host) {
        if host.isLoopThread, running == handle {
            running = 0
            return
        }
        entries.withLock { entries in
            if entries.waiting.removeValue(forKey: handle) == nil { entries.early.insert(handle) }
        }
    }

    /// Marks a call that waits for its reply. Loop thread.
    func cancel(_ handle: trestle_call) {
        entries.withLock { entries in
            if entries.waiting[handle] != nil { entries.waiting[handle] = true }
        }
    }

    /// Any thread.
    func isCancelled(_ handle: trestle_call) -> Bool {
        entries.withLock { $0.waiting[handle] ?? false }
    }
}
