import TaskRuntime

/// Which process of a pool gets a call: ``PluginPoolState`` as the host of the plugin asks it. Loop thread only.
final class PluginProcessLeases {
    private let state: PluginPoolState<PluginProcessLink>
    private unowned let host: PluginProcessHost
    /// Called when a call found none.
    private let lacking: () -> Void

    init(
        _ state: PluginPoolState<PluginProcessLink>, _ host: PluginProcessHost, lacking: @escaping () -> Void
    ) {
        self.state = state
        self.host = host
        self.lacking = lacking
    }

    /// Whether there is one for a call.
    func room(for call: Call) -> HostRoom {
        switch state.room(for: call.session?.number) {
        case .leased(let link): return link.isFull ? .unread : .free
        case .free: return .free
        case .none:
            lacking()
            return .full
        }
    }

    /// The process that works on a call, from now on its caller's; nil: there is none.
    func take(for call: Call) -> PluginProcessLink? {
        guard let (link, isNewOfSession) = state.take(for: call.session?.number) else { return nil }
        if isNewOfSession, let session = call.session { host.instance?.roomWasMade(forCallsOf: session.number) }
        return link
    }
}
