import BridgeJSON
import BridgeMessage
import CTaskPlugin
import EventLoop
import PluginInterface

/// A request to the plugin, from a message or from a call that has waited. Its bytes are borrowed.
struct PluginRequest {
    let id: UInt64
    /// The number of the task, launch worker or interceptor, or the mode of a reconfiguration.
    let number: UInt32
    let wantsProgress: Bool
    /// The time left; -1 for no deadline.
    let remainingNanoseconds: Int64
    let options: UnsafeRawBufferPointer
    let caller: UnsafeRawBufferPointer

    init(_ call: CallMessage, _ id: UInt64, _ number: UInt32) {
        (self.id, self.number, wantsProgress) = (id, number, call.wantsProgress)
        (options, caller) = (call.options, call.caller)
        // In the form of the plugin interface: at most 292 years. 0 in a message means no deadline, which is -1 here.
        let (product, overflow) = call.timeoutMilliseconds.multipliedReportingOverflow(by: 1_000_000)
        remainingNanoseconds = product == 0 ? -1 : overflow ? .max : Int64(clamping: product)
    }

    /// - Parameter now: The loop's time in nanoseconds.
    init(_ call: CallBacklog.Call, _ options: UnsafeRawBufferPointer, _ caller: UnsafeRawBufferPointer, now: UInt64) {
        (id, number, wantsProgress) = (call.id, UInt32(call.task), call.wantsProgress)
        (self.options, self.caller) = (options, caller)
        // The daemon ends the call at its deadline. The plugin must get a positive time.
        remainingNanoseconds = call.deadlineNanoseconds.map { $0 > now ? Int64(clamping: $0 - now) : 1 } ?? -1
    }
}

/// Calls of tasks. They begin immediately if the loop has little work; otherwise users take turns.
extension IsolatedPluginHost {
    /// The maximum number of calls that begin in a turn, except those that are answered immediately. A call takes the
    /// loop about 100 µs, in several jobs.
    private static let maximumBegun = 32
    /// The maximum number of waiting calls that begin in a turn, including those that are answered immediately.
    private static let maximumLooks = 256

    func begin(_ call: CallMessage, _ id: UInt64, task: Int) {
        working.insert(id, of: task)
        let request = PluginRequest(call, id, UInt32(task))
        if waiting.isEmpty, begun < Self.maximumBegun { return begin(request, task: task) }
        let remaining = request.remainingNanoseconds
        let now = LoopActor.assumeIsolated { EventLoop.now.nanoseconds }
        let user = callers.descriptor(call.caller).pointee.uid
        callers.freeRetired()
        waiting.append(
            CallBacklog.Call(
                id: id, task: task, options: Array(call.options), caller: Array(call.caller),
                wantsProgress: call.wantsProgress,
                deadlineNanoseconds: remaining < 0 ? nil : now &+ UInt64(remaining)),
            of: user)
    }

    private func begin(_ request: PluginRequest, task: Int) {
        send(request, to: plugin?.pointer(to: .call), task: task)
        if working.contains(request.id) { begun += 1 }
    }

    /// Begins waiting calls at the end of a turn.
    @LoopActor
    func beginWaiting() {
        begun = 0
        var looks = Self.maximumLooks
        while looks > 0, begun < Self.maximumBegun, let call = waiting.popFirst() {
            looks -= 1
            call.options.withUnsafeBytes { options in
                call.caller.withUnsafeBytes { caller in
                    begin(PluginRequest(call, options, caller, now: EventLoop.now.nanoseconds), task: call.task)
                }
            }
        }
        // The next turn follows without blocking.
        if !waiting.isEmpty { EventLoop.post {} }
    }

    /// Ends a cancelled call that has not begun.
    ///
    /// - Returns: Whether the call had not begun.
    func endWaiting(_ id: UInt64) -> Bool {
        guard waiting.remove(id) else { return false }
        forget(id)
        fail(id, BridgeError(.callCancelled, "the call was cancelled before the plugin began with it"))
        return true
    }
}
