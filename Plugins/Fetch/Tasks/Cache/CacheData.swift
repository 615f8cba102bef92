import HTTPRules
import TaskKit

/// The stored responses as data of the sites that they came from, of all sessions.
struct CacheData: WebsiteDataStore {
    /// The maximum number of origins of a user that are listed.
    private static let maximumOrigins = 10_000

    let type = "diskCache"
    let cache: HTTPCache
    let shared: SharedLoads

    func records(
        for call: Call, _ profile: ProfileName, _ sites: SiteNames
    ) async throws(BridgeError) -> [WebsiteRecord] {
        var records: [WebsiteRecord] = []
        var places: [String: Int] = [:]
        for usage in try await usage(of: call.caller.uid, profile) {
            guard let origin = try? WebOrigin(usage.origin) else { continue }
            records.add(sites.name(of: origin.host), byteCount: usage.bytes, count: usage.count, at: &places)
        }
        return records
    }

    func remove(
        _ selection: WebsiteSelection, for call: Call, _ sites: SiteNames
    ) async throws(BridgeError) -> Int {
        let uid = call.caller.uid
        var entries = CacheSelection(uid: uid)
        (entries.profile, entries.since) = (selection.profile, selection.since)
        if selection.names != nil || selection.origins != nil {
            let origins = try await usage(of: uid, selection.profile).map(\.origin).filter { text in
                // The rows contain the storage times; `since` selects by them.
                (try? WebOrigin(text)).map { selection.contains($0, stored: UnixTime(seconds: .max), sites) } ?? false
            }
            guard !origins.isEmpty else { return 0 }
            entries.origins = Array(Set(origins))
        }
        // Responses that are still arriving would be stored again.
        shared.stopKeeping(of: uid)
        let meant = entries
        return try await perform(of: uid, removes: true) { rows in try rows.remove(meant).count }
    }

    private func usage(
        of uid: UInt32, _ profile: ProfileName
    ) async throws(BridgeError) -> [CacheRows.OriginUsage] {
        try await perform(of: uid, removes: false) { rows in
            try rows.usage(CacheSelection(uid: uid, profile: profile), limit: Self.maximumOrigins)
        }
    }

    private func perform<T: Sendable>(
        of uid: UInt32, removes: Bool, _ body: @escaping @Sendable (inout CacheRows) throws -> T
    ) async throws(BridgeError) -> T {
        guard let result = await cache.perform(of: uid, removes: removes, body) else { throw .cacheUnusable }
        return result
    }
}
