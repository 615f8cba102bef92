internal import BridgeJSON
public import WebKitViews
public import WebProfiles

/// The filters of pages: permanent ones of the profile, and those of clients.
@MainActor
struct PageFilters {
    /// The filters of one owner.
    private struct Part {
        var list: [PageFilter]
        /// `nil` if there are none.
        var compiled: ContentFilter?
    }

    private var parts: [Container.FilterOwner: Part] = [:]
    /// The compiled filters of all owners.
    var all: [ContentFilter] { Container.FilterOwner.allCases.compactMap { parts[$0]?.compiled } }

    /// The filters of an owner.
    subscript(owner: Container.FilterOwner) -> [PageFilter] { parts[owner]?.list ?? [] }

    /// Sets the filters of an owner.
    mutating func set(_ owner: Container.FilterOwner, _ list: [PageFilter], _ compiled: ContentFilter?) {
        parts[owner] = Part(list: list, compiled: compiled)
    }

    /// Returns the rules in WebKit's format.
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
    /// The owner of filters.
    public enum FilterOwner: Sendable, Hashable, CaseIterable {
        case profile, clients
    }

    /// Returns the active filters of an owner.
    ///
    /// - Parameter owner: The owner.
    public func filters(of owner: FilterOwner) -> [PageFilter] { filters[owner] }

    /// The reason why filters were not set.
    public enum FilterRefusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// Other filters are being compiled.
        case busy
        /// The engine does not accept them.
        case wrong(EngineError)
        /// They could not be compiled, but may be valid.
        case failed(EngineError)

        /// The reason as text.
        public var description: String {
            switch self {
            case .busy: "other filters are being compiled"
            case .wrong(let error): "the engine does not accept the filters: \(error)"
            case .failed(let error): "they were not compiled: \(error)"
            }
        }
    }

    /// Replaces the filters of an owner, for everything that pages load from then on.
    ///
    /// - Parameters:
    ///   - list: The filters.
    ///   - owner: The owner.
    /// - Throws: The reason of the refusal; the previous filters then stay.
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
