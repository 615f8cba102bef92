public import BridgeJSON
import BridgeMessage
import Logging

// A plugin's answers. Every call runs this code.
extension PluginInstance {
    /// Ends a call of this plugin with a result.
    ///
    /// - Parameters:
    ///   - result: Checked to be one JSON value, unless it is known to be checked.
    ///   - isChecked: Whether the bytes are known to be JSON, as those of the options are.
    public func reply(_ handle: CallHandle, _ result: UnsafeRawBufferPointer, isChecked: Bool = false) {
        // Every call runs this: no reference is counted here.
        unownedCalls._withUnsafeGuaranteedRef { calls in
            guard let call = ownCall(handle, of: calls) else { return dropLate(handle) }
            // A decision is checked when it is read. A result that is too long is refused for its length without a
            // check: a check of a gigabyte would block the loop thread for seconds.
            if !isChecked, call.origin != .question,
                result.count <= calls.quotas.limits.messageBytes || call.task?.isInternal == true,
                let fault = calls.check.fault(in: result)
            {
                return refuse(call, fault)
            }
            noteEndOfWork(call)
            // Bytes that were checked before are the call's own options, which came in a line.
            calls.end(call, result: result, isOneLine: isChecked)
        }
        if !waiting.isEmpty || onLessWork != nil { afterWork() }
    }

    @inline(__always)
    private func noteEndOfWork(_ call: Call) { call.record.pointee.task?._withUnsafeGuaranteedRef { leave($0) } }

    private func refuse(_ call: Call, _ fault: String) {
        noteEndOfWork(call)
        calls.end(
            call, error: BridgeError(.replyInvalid, "\(providerName) sent a reply that is not valid JSON: \(fault)"))
        afterWork()
    }

    /// Ends a call of this plugin with an error.
    public func fail(_ handle: CallHandle, _ error: BridgeError) {
        guard let call = ownCall(handle, of: calls) else { return dropLate(handle) }
        noteEndOfWork(call)
        calls.end(call, error: sendable(error.isUnforeseen ? shown(error, of: call) : error))
        afterWork()
    }

    /// Returns the error in a form that a message can contain: its data are nested two levels deep in a message.
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
        let maximum = calls.quotas.limits.messageBytes
        guard value.count <= maximum else {
            return calls.log.warning(
                "\(providerName) sent progress of \(value.count) bytes, and a message has at most \(maximum)",
                metadata: call.logMetadata)
        }
        if let fault = calls.check.fault(in: value) {
            return calls.log.warning(
                "\(providerName) sent progress that is not valid JSON: \(fault)", metadata: call.logMetadata)
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

    /// Counts an answer to no open call: a fault of the plugin, which the log reports, at most 100 times per second.
    ///
    /// - Parameter id: The plugin's id of the call.
    public func noteSurplusAnswer(_ what: @autoclosure () -> String, to id: String) {
        let isReported = surplusLines.take(at: calls.clock.now) != .leaveOut
        calls.dropReply(what(), ["answered": .string(id)], level: isReported ? .warning : .debug)
    }

    /// Handles a user's limit of ended calls on which the plugin still works. If the plugin has answered none of these
    /// calls for a long time, they are treated as lost.
    func noteCrowding() {
        guard unfinished.isStuck(at: calls.clock.now) else { return }
        host.abandon(because: "did not answer ended calls for a minute")
        for task in unfinished.removeAll() { leave(task) }
        afterWork()
    }

    private func dropLate(_ handle: CallHandle) {
        guard let task = unfinished.remove(handle, at: calls.clock.now) else {
            return noteSurplusAnswer(
                "\(providerName) answered a call twice, or a call that does not exist",
                to: String(handle.rawValue))
        }
        calls.dropReply("\(providerName) answered a call that has ended", ["task": .string(task.name)])
        leave(task)
        afterWork()
    }
}
