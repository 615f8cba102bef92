internal import CTaskPlugin
internal import Synchronization

/// A Swift task that serves calls, one after the other: making and ending one for each call costs several times what
/// going on with one that waits does. Loop thread only, but for what Swift itself does with the task.
///
/// `@unchecked`: its properties are used on the loop thread only.
///
/// `@exclusivity(unchecked)`: no access to one lasts longer than its load or store.
final class CallTask: @unchecked Sendable {  // loop thread only
    /// The call that is being served; 0: it has been answered.
    @exclusivity(unchecked) var handle: trestle_call
    /// The call's request, up to the first suspension.
    @exclusivity(unchecked) private(set) var request: UnsafePointer<trestle_request>
    /// Marks the call as cancelled.
    @exclusivity(unchecked) private(set) var mark = CancelMark()
    /// Nil as long as it runs up to its first suspension ever.
    @exclusivity(unchecked) var task: Task<Void, Never>?
    /// The one below it on the stack, while both run up to a suspension: a reply may run other plugins, and one of them
    /// may call this one.
    @exclusivity(unchecked) var outer: CallTask?
    /// Where it waits for the next call.
    @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?

    init(_ request: UnsafePointer<trestle_request>) {
        self.handle = request.pointee.call
        self.request = request
    }

    /// Waits for the next call.
    func wait(_ continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
    }

    /// Goes on with another call, up to the first suspension.
    func serve(_ request: UnsafePointer<trestle_request>, on executor: PluginExecutor) {
        handle = request.pointee.call
        self.request = request
        // The last call may have kept its mark, or been cancelled too late for the task to be.
        if !isKnownUniquelyReferenced(&mark) || mark.isSet.load(ordering: .relaxed) { mark = CancelMark() }
        // `!`: a task that is handed a call waits for it.
        executor.resume(continuation.take()!)
    }
}
