internal import BridgeJSON
public import WebKitViews
public import WebProfiles

/// The filters of pages: those of the profile, which stay, and those of clients.
@MainActor
struct PageFilters {
    private var compiled: [Container.FilterOwner: ContentFilter] = [:]
    private var lists: [Container.FilterOwner: [PageFilter]] = [:]
    /// Counts the changes, so that a later one that was compiled sooner stays.
    private var changes: [Container.FilterOwner: Int] = [:]

    /// All of them.
    var all: [ContentFilter] { Container.FilterOwner.allCases.compactMap { compiled[$0] } }

    /// Those of an owner.
    subscript(owner: Container.FilterOwner) -> [PageFilter] { lists[owner] ?? [] }

    /// A change begins.
    ///
    /// - Returns: Its number.
    mutating func begin(_ owner: Container.FilterOwner) -> Int {
        changes[owner, default: 0] += 1
        return changes[owner, default: 0]
    }

    /// A change has been compiled; nil: there are no filters then. An earlier one than the last has no effect.
    mutating func finish(
        _ owner: Container.FilterOwner, _ change: Int, _ list: [PageFilter], _ filter: ContentFilter?
    ) {
        guard change == changes[owner] else { return }
        compiled[owner] = filter
        lists[owner] = list
    }

    /// The rules as WebKit has them.
    static func source(_ filters: [PageFilter]) -> String { JSON.array(filters.map(rule)).text }

    private static func rule(_ filter: PageFilter) -> JSON {
        var trigger: JSONObject = ["url-filter": .string(filter.url ?? ".*")]
        trigger["resource-type"] = filter.types.map { .array($0.map { .string($0.rawValue) }) }
        trigger["if-domain"] = filter.domains.map { .array($0.map { .string($0) }) }
        var action: JSONObject
        switch filter.action {
        case .block: action = ["type": "block"]
        case .https: action = ["type": "make-https"]
        case .hide: action = ["type": "css-display-none", "selector": .string(filter.selector ?? "")]
        }
        return ["trigger": .object(trigger), "action": .object(action)]
    }
}

extension Container {
    /// Whose filters they are.
    public enum FilterOwner: Sendable, Hashable, CaseIterable {
        case profile, clients
    }

    /// The filters of an owner that hold.
    ///
    /// - Parameter owner: Whose they are.
    public func filters(of owner: FilterOwner) -> [PageFilter] { filters[owner] }

    /// Sets the filters of an owner in place of those before, for what pages load from then on.
    ///
    /// - Parameters:
    ///   - list: The filters.
    ///   - owner: Whose they are.
    /// - Throws: What the engine does not take; then those before stay.
    public func setFilters(_ list: [PageFilter], of owner: FilterOwner) async throws(EngineError) {
        let change = filters.begin(owner)
        let filter = list.isEmpty ? nil : try await ContentFilter.compile(PageFilters.source(list))
        filters.finish(owner, change, list, filter)
    }
}
