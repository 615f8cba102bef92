import HTTPRules
import TaskKit

/// The cookies, which the plugin Cookies stores. Its tasks are called on behalf of the caller, so the caller gets the
/// same results as from its own calls.
struct CookieData: WebsiteDataStore {
    let type = "cookies"
    /// Cookies that have not been stored yet; `nil` if there are none.
    var late: LateCookies?

    /// The members that identify a cookie.
    private static let keyMembers = ["name", "nameBase64", "host", "hostOnly", "path", "partition"]

    func records(
        for call: Call, _ profile: ProfileName, _ sites: SiteNames
    ) async throws(BridgeError) -> [WebsiteRecord] {
        var records: [WebsiteRecord] = []
        var places: [String: Int] = [:]
        try await forEach(profile, call) { cookie throws(BridgeError) in
            guard let host = Self.host(of: cookie) else { return }
            let byteCount = ["name", "value"].reduce(Int64(0)) { $0 + Int64(cookie[$1]?.stringValue?.utf8.count ?? 0) }
            records.add(sites.name(of: host), byteCount: byteCount, at: &places)
        }
        return records
    }

    func remove(
        _ selection: WebsiteSelection, for call: Call, _ sites: SiteNames
    ) async throws(BridgeError) -> Int {
        late?.removeAll(of: call.caller.uid)
        var keys: [JSON] = []
        try await forEach(selection.profile, call) { cookie throws(BridgeError) in
            guard Self.isMeant(cookie, selection, sites) else { return }
            var key = JSONObject()
            for member in Self.keyMembers { key[member] = cookie[member] }
            keys.append(.object(key))
        }
        var removed = 0
        for key in keys {
            do throws(BridgeError) {
                let _: JSON = try await call.call(
                    "cookies.delete", ["key": key, "profile": .string(selection.profile.text)] as JSON)
                removed += 1
            } catch  where error.code == "cookie.not_found" {
                // Another client has already removed it.
            }
        }
        return removed
    }

    /// Returns whether a selection contains a cookie. Cookies belong to hosts, not to origins: an origin selects the
    /// cookies that are sent to its host.
    private static func isMeant(_ cookie: JSON, _ selection: WebsiteSelection, _ sites: SiteNames) -> Bool {
        guard let host = host(of: cookie) else { return false }
        if let since = selection.since, (cookie["created"]?.int64Value).map({ $0 < since.seconds }) ?? true {
            return false
        }
        if let names = selection.names, !names.contains(sites.name(of: host)) { return false }
        guard let origins = selection.origins else { return true }
        let isHostOnly = cookie["hostOnly"]?.boolValue ?? true
        return origins.contains { origin in
            isHostOnly ? origin.host == host : CookieMatch.domainMatches(origin.host, host)
        }
    }

    private static func host(of cookie: JSON) -> Host? {
        cookie["host"]?.stringValue.flatMap { try? Host(ascii: $0) }
    }

    /// Calls `body` with each cookie of a profile, page by page.
    private func forEach(
        _ profile: ProfileName, _ call: Call, _ body: (JSON) throws(BridgeError) -> Void
    ) async throws(BridgeError) {
        var after: Int64 = 0
        while true {
            var options: JSONObject = ["profile": .string(profile.text)]
            if after > 0 { options["after"] = .number(JSONNumber(after)) }
            let page: JSON = try await call.call("cookies.get", JSON.object(options))
            for cookie in page["cookies"]?.arrayValue ?? [] { try body(cookie) }
            guard page["more"]?.boolValue == true, let version = page["version"]?.int64Value, version > after else {
                return
            }
            after = version
        }
    }
}
