/// Which of the engine's steps are those of the load that a client has begun, as a state machine. The engine does not
/// number loads; it asks about each before it starts it, and steps of an earlier one may still come until then.
public struct AwaitedLoad: Sendable, Hashable {
    private enum State: Hashable {
        /// Every step is of the load that is under way.
        case nothing
        /// The engine has not asked yet: steps are those of an earlier load.
        case decision
        /// It has asked, and has not started yet.
        case start
    }

    private var state = State.nothing
    /// The address of the last load that a client began, as the engine writes it.
    public private(set) var address: String?
    /// Whether the load may be one within the document.
    private var mayHaveNoSteps = false

    /// No client waits for the start of a load.
    public init() {}

    /// Whether the steps that come are those of an earlier load.
    public var isPending: Bool { state != .nothing }

    /// Whether a failure that comes is that of an earlier load. The engine fails some loads without a start.
    public var isBeforeDecision: Bool { state == .decision }

    /// Whether the next start is this load's.
    public var isStarting: Bool { state == .start }

    /// A client has begun a load.
    ///
    /// - Parameters:
    ///   - address: What the engine says is the address since then.
    ///   - isInHistory: Whether it is of a document that was shown, whose address `pushState` may have made. Others are
    ///     within the document only where they have a fragment.
    public mutating func begin(_ address: String?, isInHistory: Bool) {
        state = .decision
        self.address = address
        mayHaveNoSteps = isInHistory || address?.contains("#") == true
    }

    /// A navigation may go on: this load, where it has its address.
    ///
    /// - Parameter address: The navigation's address.
    public mutating func decided(_ address: String) {
        if state == .decision, self.address == nil || self.address == address { state = .start }
    }

    /// A load starts.
    public mutating func started() {
        if state == .start { state = .nothing }
    }

    /// Whether the load may be one within the document, which has no steps: its address is that of the document now.
    ///
    /// - Parameter address: The address now.
    public func mayBeWithinDocument(_ address: String?) -> Bool {
        state == .start && mayHaveNoSteps && self.address == address
    }

    /// Nobody waits any more.
    public mutating func end() { state = .nothing }
}
