/// Decides, as a state machine, which of the engine's steps belong to the load that a client has begun. The engine does
/// not number loads. It requests a decision about each load before it starts it; until then, steps of an earlier load
/// may still arrive.
public struct AwaitedLoad: Sendable, Hashable {
    private enum State: Hashable {
        /// Every step belongs to the current load.
        case nothing
        /// The engine has not requested the decision yet: steps belong to an earlier load.
        case decision
        /// The decision is made, and the load has not started yet.
        case start
    }

    private var state = State.nothing
    /// The address of the last load that a client began, in the engine's form; `nil` for none.
    public private(set) var address: String?
    /// Whether the load may stay within the document.
    private var mayHaveNoSteps = false

    /// Creates the state without a load of a client.
    public init() {}

    /// Whether arriving steps belong to an earlier load.
    public var isPending: Bool { state != .nothing }

    /// Whether an arriving failure belongs to an earlier load. The engine fails some loads without a start.
    public var isBeforeDecision: Bool { state == .decision }

    /// Whether the next start belongs to this load.
    public var isStarting: Bool { state == .start }

    /// Notes that a client has begun a load.
    ///
    /// - Parameters:
    ///   - address: The engine's address since then.
    ///   - isInHistory: Whether its document was shown before; `pushState` may have made the address. Other loads stay
    ///     within the document only if their address has a fragment.
    public mutating func begin(_ address: String?, isInHistory: Bool) {
        state = .decision
        self.address = address
        mayHaveNoSteps = isInHistory || address?.contains("#") == true
    }

    /// Notes that a navigation was allowed. It is this load if it has its address.
    ///
    /// - Parameter address: The navigation's address.
    public mutating func decided(_ address: String) {
        if state == .decision, self.address == nil || self.address == address { state = .start }
    }

    /// Notes that a load starts.
    public mutating func started() {
        if state == .start { state = .nothing }
    }

    /// Whether the load may have stayed within the document, without steps: its address is now that of the document.
    ///
    /// - Parameter address: The current address.
    public func mayBeWithinDocument(_ address: String?) -> Bool {
        state == .start && mayHaveNoSteps && self.address == address
    }

    /// Ends the wait for the load.
    public mutating func end() { state = .nothing }
}
