import HTTPRules
import OfflinePackages
import TaskKit

/// The packages as data of the sites of their base URLs. They belong to no profile and are selected with each profile.
struct PackageData: WebsiteDataStore {
    let type = "packages"
    let packages: PackageStores

    func records(
        for call: Call, _ profile: ProfileName, _ sites: SiteNames
    ) async throws(BridgeError) -> [WebsiteRecord] {
        var records: [WebsiteRecord] = []
        var places: [String: Int] = [:]
        for versions in try await packages.store(of: call.caller.uid)?.packages.values.map({ $0 }) ?? [] {
            guard let origin = Self.origin(of: versions.current) else { continue }
            records.add(sites.name(of: origin.host), byteCount: versions.contentBytes, at: &places)
        }
        return records
    }

    func remove(
        _ selection: WebsiteSelection, for call: Call, _ sites: SiteNames
    ) async throws(BridgeError) -> Int {
        guard let store = try await packages.store(of: call.caller.uid) else { return 0 }
        var removed = 0
        for (id, versions) in store.packages {
            guard let origin = Self.origin(of: versions.current) else { continue }
            let installed = UnixTime(seconds: versions.current.installedSeconds)
            guard selection.contains(origin, stored: installed, sites) else { continue }
            try await packages.change(of: call.caller.uid) { store throws(PackageFault) in _ = try store.remove(id) }
            removed += 1
        }
        return removed
    }

    private static func origin(of package: InstalledPackage) -> WebOrigin? {
        package.manifest.head.base.flatMap { try? WebURL($0) }?.origin
    }
}
