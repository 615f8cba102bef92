internal import BridgeJSON
public import WebKitViews
public import WebProfiles

/// The filters of pages: those of the profile, which stay, and those of clients.
@MainActor
struct PageFilters {
    /// Those of one owner.
    private struct Part {
        var list: [PageFilter]
        /// Nil: there are none.
        var compiled: ContentFilter?
    }

    private var parts: [Container.FilterOwner: Part] = [:]
    /// All of them.
    var all: [ContentFilter] { Container.FilterOwner.allCases.compactMap { parts[$0]?.compiled } }

    /// Those of an owner.
    subscript(owner: Container.FilterOwner) -> [PageFilter] { parts[owner]?.list ?? [] }

    /// Sets those of an owner.
    mutating func set(_ owner: Container.FilterOwner, _ list: [PageFilter], _ compiled: ContentFilter?) {
        parts[owner] = Part(list: list, compiled: compiled)
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

    /// Why filters were not set.
    public enum FilterRefusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// Others are being compiled.
        case busy
        /// The engine does not take them.
        case wrong(EngineError)
        /// They could not be compiled, and may be good.
        case failed(EngineError)

        /// What it says.
        public var description: String {
            switch self {
            case .busy: "others are being compiled"
            case .wrong(let error): "the engine does not take them: \(error)"
            case .failed(let error): "they were not compiled: \(error)"
            }
        }
    }

    /// Sets the filters of an owner in place of those before, for what pages load from then on.
    ///
    /// - Parameters:
    ///   - list: The filters.
    ///   - owner: Whose they are.
    /// - Throws: Why not; then those before stay.
    public func setFilters(_ list: [PageFilter], of owner: FilterOwner) async throws(FilterRefusal) {
        guard !isCompilingFilters else { throw .busy }
        isCompilingFilters = true
        defer { isCompilingFilters = false }
        do throws(FilterFault) {
            let source = PageFilters.source(list)
            let compiled =
                list.isEmpty ? nil : try await ContentFilter.compile(source, by: settings.filterCompiler)
            filters.set(owner, list, compiled)
        } catch {
            switch error {
            case .wrong(let error): throw .wrong(error)
            case .failed(let error): throw .failed(error)
            }
        }
    }
}
