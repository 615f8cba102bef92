/// How many views wait for a page, and how many pages may be open, as a state machine. A view that showed a page is not
/// used for another one: its process and its history are that page's.
public struct ViewPool: Sendable, Hashable {
    /// What a page that is to be opened gets.
    public enum Admission: Sendable, Hashable {
        /// A view that waits.
        case warm
        /// A new view.
        case cold
        /// None: as many are open as may be.
        case busy
    }

    /// Views that are to wait.
    public let target: Int
    /// Pages that may be open.
    public let maximum: Int
    /// Views that wait.
    public private(set) var warm = 0
    /// Pages that are open.
    public private(set) var open = 0
    /// Pages that got a view that waited.
    public private(set) var warmStarts = 0
    /// Pages that got a new view.
    public private(set) var coldStarts = 0

    /// An empty pool.
    ///
    /// - Parameters:
    ///   - target: Views that are to wait.
    ///   - maximum: Pages that may be open.
    public init(target: Int, maximum: Int) {
        self.target = target
        self.maximum = maximum
    }

    /// A page is to be opened.
    public mutating func admit() -> Admission {
        guard open < maximum else { return .busy }
        open += 1
        guard warm > 0 else {
            coldStarts += 1
            return .cold
        }
        warm -= 1
        warmStarts += 1
        return .warm
    }

    /// A page that needs a view of its own is to be opened; false: as many are open as may be.
    public mutating func admitNew() -> Bool {
        guard open < maximum else { return false }
        open += 1
        coldStarts += 1
        return true
    }

    /// A page was closed.
    public mutating func closed() { open -= 1 }

    /// How many views are to be made while nothing else is to be done: those that wait and those that are shown are not
    /// more than may be open.
    public var missing: Int { max(0, min(target, maximum - open) - warm) }

    /// A view was made, and waits.
    public mutating func made() { warm += 1 }

    /// The process of a view that waits has ended.
    public mutating func lost() { warm -= 1 }
}
