public import BridgeJSON
import DequeModule

// A plugin whose processes end unexpectedly.
extension PluginInstance {
    /// One of its processes is no longer there, others are.
    ///
    /// - Parameter lost: the calls that it worked on.
    public func oneCrashed(_ error: BridgeError, lost: [CallHandle]) {
        workEnded(lost, error)
        if state == .running { directory.events.publish("plugin.crashed", data: news(error)) }
    }

    /// The work on these calls is over without an answer, whether a caller waited for one or not.
    public func workEnded(_ handles: [CallHandle], _ error: BridgeError) {
        endings.append(EndingCalls(handles, error))
        // The processes that are left may have become free for others.
        if host.choosesCalls, !waiting.isEmpty { roomWasMade() }
        continueWork()
    }

    /// Its process is no longer there. Calls that were not handed over yet wait on.
    ///
    /// - Parameters:
    ///   - lost: the calls that it worked on.
    ///   - isRestarting: whether there will be another process; else its life is over for now.
    public func crashed(_ error: BridgeError, lost: [CallHandle], isRestarting: Bool) {
        pause(.noProcess)
        endNews()
        let wasOpen = state == .running || state == .restarting
        if wasOpen { state = .restarting }
        workEnded(lost, error)
        guard wasOpen else { return }
        directory.events.publish("plugin.crashed", data: news(error))
        if !isRestarting { abandon(after: error) }
    }

    /// Its process was started again and takes calls.
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
        directory.events.publish("plugin.unavailable", data: news(error))
    }

    private func news(_ error: BridgeError) -> JSON {
        var data = error.data?.objectValue ?? [:]
        data["name"] = .string(name)
        data["started"] = nil
        data["message"] = .string(error.message)
        return .object(data)
    }
}
