public import BridgeJSON
import BridgeMessage
import Logging

// A plugin's answers. On the way of every call.
extension PluginInstance {
    /// Ends a call of this plugin with a result.
    ///
    /// - Parameters:
    ///   - result: checked to be one JSON value, unless the caller knows that it has been.
    ///   - isChecked: whether the bytes are known to be JSON, as those of the options are.
    public func reply(_ handle: CallHandle, _ result: UnsafeRawBufferPointer, isChecked: Bool = false) {
        // On the way of every call: no reference is counted here.
        unownedCalls._withUnsafeGuaranteedRef { calls in
            guard let call = ownCall(handle, of: calls) else { return dropLate(handle) }
            // A decision is checked when it is read. What is too long is refused for that: to look through a gigabyte
            // takes the loop's thread for seconds.
            if !isChecked, call.origin != .question,
                result.count <= calls.quotas.limits.messageBytes || call.task?.isInternal == true,
                let fault = calls.check.fault(in: result)
            {
                return refuse(call, fault)
            }
            noteEndOfWork(call)
            // What has been checked before are the call's own options, which came in a line.
            calls.end(call, result: result, isOneLine: isChecked)
        }
        if !waiting.isEmpty || onLessWork != nil { afterWork() }
    }

    @inline(__always)
    private func noteEndOfWork(_ call: Call) { call.record.pointee.task?._withUnsafeGuaranteedRef { leave($0) } }

    private func refuse(_ call: Call, _ fault: String) {
        noteEndOfWork(call)
        calls.end(call, error: BridgeError(.replyInvalid, "\(providerName) replied with no JSON: \(fault)"))
        afterWork()
    }

    /// Ends a call of this plugin with an error.
    public func fail(_ handle: CallHandle, _ error: BridgeError) {
        guard let call = ownCall(handle, of: calls) else { return dropLate(handle) }
        noteEndOfWork(call)
        calls.end(call, error: sendable(error.isUnforeseen ? shown(error, of: call) : error))
        afterWork()
    }

    /// An error as a message can bear it: its data stand two levels deep in one.
    private func sendable(_ error: BridgeError) -> BridgeError {
        guard let data = error.data?.bytes,
            data.withUnsafeBytes({ calls.check.fault(in: $0, levelsAround: 2) }) != nil
        else { return error }
        calls.log.warning("\(providerName) sent an error whose data are nested too deep: they are left out")
        var error = error
        error.data = nil
        return error
    }

    /// Sends an intermediate result of a call of this plugin.
    public func progress(_ handle: CallHandle, _ value: UnsafeRawBufferPointer) {
        guard let call = ownCall(handle, of: calls), call.takesProgress else { return }
        if let fault = calls.check.fault(in: value) {
            return calls.log.warning(
                "\(providerName) sent progress that is no JSON: \(fault)", metadata: call.logMetadata)
        }
        calls.progress(call, value)
    }

    @inline(__always)
    func ownCall(_ handle: CallHandle, of calls: CallEngine) -> Call? {
        guard let call = calls.call(handle), call.state == .running, let task = call.record.pointee.task,
            task._withUnsafeGuaranteedRef({ $0.providerID }) == ObjectIdentifier(self)
        else { return nil }
        return call
    }

    /// An answer came that was not asked for: a fault of the plugin, which the log reports, 100 times a second at most.
    ///
    /// - Parameter id: By what the plugin knows the call.
    public func noteSurplusAnswer(_ what: @autoclosure () -> String, to id: String) {
        let isReported = surplusLines.take(at: calls.clock.now) != .leaveOut
        calls.dropReply(what(), ["answered": .string(id)], level: isReported ? .warning : .debug)
    }

    /// A user has as many calls there that have ended as they may. Where the plugin has long answered none of them, it
    /// is taken to have lost them.
    func noteCrowding() {
        guard unfinished.isStuck(at: calls.clock.now) else { return }
        host.giveUp(because: "left calls that have ended unanswered for a minute")
        for task in unfinished.removeAll() { leave(task) }
        afterWork()
    }

    private func dropLate(_ handle: CallHandle) {
        guard let task = unfinished.remove(handle, at: calls.clock.now) else {
            return noteSurplusAnswer(
                "\(providerName) answered a call again that it had answered, or that never was",
                to: String(handle.rawValue))
        }
        calls.dropReply("\(providerName) answered a call that has ended", ["task": .string(task.name)])
        leave(task)
        afterWork()
    }
}
