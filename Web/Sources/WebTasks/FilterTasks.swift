internal import BridgeClient
internal import BridgeJSON
internal import WebContainer
internal import WebKitViews
internal import WebProfiles

struct FilterOptions: Codable, Sendable {
    var filters: [PageFilter]
}

struct FilterLists: Codable, Sendable {
    /// The filters of clients.
    var filters: [PageFilter]
    /// The filters of the profile, which are permanent.
    var profile: [PageFilter]
}

extension ControlPlane {
    func provideFilters() async throws(BridgeError) {
        try await provide("web.filters.set", "Sets the filters of pages: block, hide, or load by https.") {
            (plane, options: FilterOptions, call) in
            try plane.admit(call)
            return try await plane.setFilters(options.filters)
        }
        try await provide("web.filters.get", "Lists the filters of clients and of the profile.") {
            (plane, _: NoOptions, call) in
            try plane.admit(call)
            return FilterLists(
                filters: plane.container.filters(of: .clients), profile: plane.container.filters(of: .profile))
        }
    }

    private func setFilters(_ filters: [PageFilter]) async throws -> JSON {
        guard PageFilter.areFew(filters) else { throw BridgeError(.quotaExceeded, PageFilter.limitText) }
        for (index, filter) in filters.enumerated() {
            guard let problem = filter.problem else { continue }
            throw BridgeError(.optionsInvalid, problem, data: ["path": .string("$.filters[\(index)]")])
        }
        do throws(Container.FilterRefusal) {
            try await container.setFilters(filters, of: .clients)
        } catch {
            let message = "filters: \(error)"
            switch error {
            case .busy: throw BridgeError(.busy, message, isTransient: true)
            case .wrong: throw BridgeError(.optionsInvalid, message, data: ["path": "$.filters"])
            case .failed: throw BridgeError("engine.failed", message, isTransient: true)
            }
        }
        return [:]
    }
}
