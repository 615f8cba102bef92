internal import CTaskPlugin
internal import Synchronization

/// A Swift task that serves calls one after the other. Creating and ending a Swift task for each call costs several
/// times as much as resuming one that waits. Loop thread only, except for what Swift itself does with the task.
///
/// `@unchecked`: its properties are used on the loop thread only.
///
/// `@exclusivity(unchecked)`: no access to a property lasts longer than its load or store.
final class CallTask: @unchecked Sendable {  // loop thread only
    /// The call that is being served; 0 after it has been answered.
    @exclusivity(unchecked) var handle: trestle_call
    /// The call's request, valid up to the first suspension.
    @exclusivity(unchecked) private(set) var request: UnsafePointer<trestle_request>
    /// Marks the call as cancelled.
    @exclusivity(unchecked) private(set) var mark = CancelMark()
    /// The Swift task; `nil` until its very first suspension.
    @exclusivity(unchecked) var task: Task<Void, Never>?
    /// The Swift task below this one on the stack, while both run up to a suspension. A reply may run other plugins,
    /// and one of them may call this plugin.
    @exclusivity(unchecked) var outer: CallTask?
    /// The continuation that waits for the next call.
    @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?

    init(_ request: UnsafePointer<trestle_request>) {
        self.handle = request.pointee.call
        self.request = request
    }

    /// Waits for the next call.
    func wait(_ continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
    }

    /// Continues with another call, up to the first suspension.
    func serve(_ request: UnsafePointer<trestle_request>, on executor: PluginExecutor) {
        handle = request.pointee.call
        self.request = request
        // The last call may still hold its mark. Or it was cancelled too late to cancel the task.
        if !isKnownUniquelyReferenced(&mark) || mark.isSet.load(ordering: .relaxed) { mark = CancelMark() }
        // `!`: a task that receives a call waits for it.
        executor.resume(continuation.take()!)
    }
}
