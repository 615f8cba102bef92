public import BridgeJSON
import DequeModule

// A plugin whose processes end unexpectedly.
extension PluginInstance {
    /// Reports that one of its processes has ended while others are running.
    ///
    /// - Parameter lost: The calls that the process worked on.
    public func oneCrashed(_ error: BridgeError, lost: [CallHandle]) {
        workEnded(lost, error)
        if state == .running { directory.events.publish("plugin.crashed", data: failureData(error), for: account) }
    }

    /// Reports that the work on these calls has ended without an answer, whether a caller waits for one or not.
    public func workEnded(_ handles: [CallHandle], _ error: BridgeError) {
        endings.append(EndingCalls(handles, error))
        // The remaining processes may now be free for other calls.
        if host.choosesCalls, !waiting.isEmpty { roomWasMade() }
        continueWork()
    }

    /// Reports that its process has ended. Calls that were not passed to it keep waiting.
    ///
    /// - Parameters:
    ///   - lost: The calls that it worked on.
    ///   - isRestarting: Whether another process will be started; otherwise the plugin becomes unavailable.
    public func crashed(_ error: BridgeError, lost: [CallHandle], isRestarting: Bool) {
        pause(.noProcess)
        endSessionReport()
        let wasOpen = state == .running || state == .restarting
        if wasOpen { state = .restarting }
        workEnded(lost, error)
        guard wasOpen else { return }
        directory.events.publish("plugin.crashed", data: failureData(error), for: account)
        if !isRestarting { abandon(after: error) }
    }

    /// Reports that its process has been restarted and takes calls.
    public func restarted() {
        guard state == .restarting || state == .unavailable || state == .running else { return }
        state = .running
        refusal = nil
        pauses.remove(.noProcess)
        directory.announce(self)
    }

    private func abandon(after error: BridgeError) {
        state = .unavailable
        let refusal = BridgeError(
            .pluginUnavailable,
            "\(providerName) ended too often and is no longer started; bridge.plugin.reload starts it again",
            data: error.data.map { ["last": $0] })
        self.refusal = refusal
        continueWork()
        directory.events.publish("plugin.unavailable", data: failureData(error), for: account)
    }

    private func failureData(_ error: BridgeError) -> JSON {
        var data = error.data?.objectValue ?? [:]
        data["name"] = .string(name)
        data["started"] = nil
        data["message"] = .string(error.message)
        return .object(data)
    }
}
