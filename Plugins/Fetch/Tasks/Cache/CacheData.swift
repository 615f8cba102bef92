import HTTPRules
import TaskKit

/// The stored responses as data of the sites that they came from, of all sessions.
struct CacheData: WebsiteDataStore {
    /// The maximum number of origins of a user that are listed.
    private static let maximumOrigins = 10_000
    /// The number of origins that are examined in a transaction. Other users' requests run between the transactions.
    private static let removedOrigins = 1000

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
        // Responses that are still arriving would be stored again.
        shared.stopKeeping(of: uid)
        if let origins = selection.origins, origins.count <= Self.removedOrigins {
            entries.origins = origins.filter { selection.contains($0, stored: UnixTime(seconds: .max), sites) }.map(
                \.text)
        }
        let meant = entries
        guard entries.origins == nil, selection.names != nil || selection.origins != nil else {
            return try await perform(of: uid, removes: true) { rows in try rows.remove(meant).count }
        }
        var (count, place) = (0, CacheRows.OriginPlace() as CacheRows.OriginPlace?)
        while let after = place {
            let (removed, last) = try await perform(of: uid, removes: true) { rows in
                try rows.remove(meant, after: after, limit: Self.removedOrigins) { origin in
                    // The rows contain the storage times; `since` selects by them.
                    let origin = try? WebOrigin(origin)
                    return origin.map { selection.contains($0, stored: UnixTime(seconds: .max), sites) } ?? false
                }
            }
            count += removed
            place = last
        }
        return count
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
