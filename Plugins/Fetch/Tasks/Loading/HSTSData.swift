import HTTPRules
import TaskKit

/// The hosts that require TLS, as data of their sites. The time of a host's response is not stored, so the removal of a
/// selected host ignores the selection's time.
struct HSTSData: WebsiteDataStore {
    let type = "hsts"
    let hosts: HSTSHosts
    /// Called when hosts were removed.
    let onChange: @Sendable () -> Void

    func records(
        for call: Call, _ profile: ProfileName, _ sites: SiteNames
    ) async throws(BridgeError) -> [WebsiteRecord] {
        var records: [WebsiteRecord] = []
        var places: [String: Int] = [:]
        for (partition, name) in hosts.all(of: call.caller.uid) where partition.profile == profile.text {
            guard let host = try? Host(name) else { continue }
            records.add(sites.name(of: host), byteCount: Int64(name.utf8.count), at: &places)
        }
        return records
    }

    func remove(
        _ selection: WebsiteSelection, for call: Call, _ sites: SiteNames
    ) async throws(BridgeError) -> Int {
        let count = hosts.remove(of: call.caller.uid) { partition, name in
            guard partition.profile == selection.profile.text, let origin = try? WebOrigin("https://\(name)") else {
                return false
            }
            return selection.contains(origin, stored: UnixTime(seconds: .max), sites)
        }
        if count > 0 { onChange() }
        return count
    }
}
