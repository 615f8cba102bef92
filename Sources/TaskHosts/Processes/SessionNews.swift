import BridgeJSON
import TaskRuntime

/// Which changes of sessions are reported to a plugin's processes. Loop thread only.
struct SessionNews {
    private enum Scope {
        case nothing
        /// The ends of sessions that have called the plugin.
        case callers
        case all
    }

    private var scope = Scope.nothing
    /// For ``Scope/callers``: the sessions that have called the plugin, or whose state it has restored, until they end.
    /// Those that end while the plugin restarts are removed when there are too many.
    private(set) var callers: Set<UInt64> = []
    private var maximumCallers = minimumCallers
    private static let minimumCallers = 64
    /// The session that was added last.
    private var lastCaller: UInt64 = 0

    /// - Parameter declared: `sessions` of the process's manifest: true, "callers", or anything else for nothing.
    mutating func setScope(_ declared: JSON?) {
        scope = declared == true ? .all : declared == "callers" ? .callers : .nothing
    }

    /// Records a call of a session; 0 for a call that no session made.
    ///
    /// - Parameter isOpen: Whether a session exists.
    mutating func noteCall(of session: UInt64, isOpen: (UInt64) -> Bool) {
        guard scope == .callers, session != lastCaller, session != 0 else { return }
        lastCaller = session
        callers.insert(session)
        guard callers.count > maximumCallers else { return }
        callers = callers.filter(isOpen)
        maximumCallers = max(Self.minimumCallers, callers.count * 2)
    }

    /// Records the sessions in the options of a request that restores their states.
    mutating func noteStates(_ options: UnsafeRawBufferPointer, isOpen: (UInt64) -> Bool) {
        guard scope == .callers else { return }
        let states = (try? JSON(parsing: options))?["states"]?.objectValue
        for (number, _) in states ?? [:] { if let session = UInt64(number) { noteCall(of: session, isOpen: isOpen) } }
    }

    /// Returns whether a change is reported. After the end of a session, the session is not known any more.
    mutating func includes(_ change: SessionChange, of session: UInt64) -> Bool {
        switch scope {
        case .nothing: return false
        case .all: return true
        case .callers:
            guard change == .closed else { return false }
            if lastCaller == session { lastCaller = 0 }
            return callers.remove(session) != nil
        }
    }

    /// Whether the open sessions are reported to a new process.
    var includesOpenSessions: Bool { scope == .all }
}
