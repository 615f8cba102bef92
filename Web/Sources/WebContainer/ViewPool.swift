/// Counts the views that wait for a page and the open pages, as a state machine. A view that showed a page is not
/// reused for another one: its process and its history belong to that page.
public struct ViewPool: Sendable, Hashable {
    /// The view for a page that will be opened.
    public enum Admission: Sendable, Hashable {
        /// A waiting view.
        case warm
        /// A new view.
        case cold
        /// None: the maximum number of pages is open.
        case busy
    }

    /// The number of views that should wait.
    public let target: Int
    /// The maximum number of open pages.
    public let maximum: Int
    /// The number of waiting views.
    public private(set) var warm = 0
    /// The number of open pages.
    public private(set) var open = 0
    /// The number of pages that got a waiting view.
    public private(set) var warmStarts = 0
    /// The number of pages that got a new view.
    public private(set) var coldStarts = 0

    /// Creates an empty pool.
    ///
    /// - Parameters:
    ///   - target: The number of views that should wait.
    ///   - maximum: The maximum number of open pages.
    public init(target: Int, maximum: Int) {
        self.target = target
        self.maximum = maximum
    }

    /// Admits a page and chooses its view.
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

    /// Admits a page that needs a view of its own; returns false if the maximum number of pages is open.
    public mutating func admitNew() -> Bool {
        guard open < maximum else { return false }
        open += 1
        coldStarts += 1
        return true
    }

    /// Notes that a page was closed.
    public mutating func closed() { open -= 1 }

    /// The number of views to create when the loop is idle: waiting and shown views together may not exceed the
    /// maximum.
    public var missing: Int { max(0, min(target, maximum - open) - warm) }

    /// Notes that a view was created and waits.
    public mutating func made() { warm += 1 }

    /// Notes that the process of a waiting view has ended.
    public mutating func lost() { warm -= 1 }
}
