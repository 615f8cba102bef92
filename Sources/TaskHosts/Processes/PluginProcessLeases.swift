import TaskRuntime

/// Selects the process of a pool that gets a call. The plugin's host uses ``PluginPoolState`` through it. Loop thread
/// only.
final class PluginProcessLeases {
    private let state: PluginPoolState<PluginProcessLink>
    private unowned let host: PluginProcessHost
    /// Called when no process was available for a call.
    private let lacking: () -> Void

    init(
        _ state: PluginPoolState<PluginProcessLink>, _ host: PluginProcessHost, lacking: @escaping () -> Void
    ) {
        self.state = state
        self.host = host
        self.lacking = lacking
    }

    /// Returns whether a process is available for a call.
    func room(for call: Call) -> HostRoom {
        switch state.room(for: call.session?.number) {
        case .leased(let link): return link.isFull ? .unread : .free
        case .free: return .free
        case .none:
            lacking()
            return .full
        }
    }

    /// Assigns a process to a call; returns `nil` if none is available.
    func take(for call: Call) -> PluginProcessLink? {
        guard let (link, isNewOfSession) = state.take(for: call.session?.number) else { return nil }
        if isNewOfSession, let session = call.session { host.instance?.roomWasMade(forCallsOf: session.number) }
        return link
    }
}
