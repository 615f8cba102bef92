import HTTPRules
import TaskKit

/// What is kept for one site.
struct WebsiteRecord: Sendable {
    /// The registrable domain; a host that has none.
    var name: String
    var byteCount: Int64
    /// How many things there are: files, cookies, responses.
    var count: Int
}

/// Which data are meant, of the caller's user.
struct WebsiteSelection: Sendable {
    var profile = ProfileName.standard
    /// Registrable domains, with all hosts below; nil: all.
    var names: Set<String>?
    /// Origins; nil: all.
    var origins: Set<WebOrigin>?
    /// Only what was stored then or later; nil: whenever.
    var since: UnixTime?

    /// Whether something is meant that belongs to an origin.
    ///
    /// - Parameters:
    ///   - origin: The origin.
    ///   - stored: When it was stored.
    ///   - sites: Which registrable domains there are.
    func contains(_ origin: WebOrigin, stored: UnixTime, _ sites: SiteNames) -> Bool {
        (names?.contains(sites.name(of: origin.host)) ?? true) && (origins?.contains(origin) ?? true)
            && (since.map { stored >= $0 } ?? true)
    }
}

/// The names under which records of hosts are shown.
struct SiteNames: Sendable {
    let suffixes: PublicSuffixList?

    func name(of host: Host) -> String { suffixes?.registrableDomain(of: host)?.text ?? host.text }
}

/// A kind of data that is kept for sites. Any thread.
protocol WebsiteDataStore: Sendable {
    /// What `data.types` calls it.
    var type: String { get }

    /// What there is for the caller's user, a record for each site.
    ///
    /// - Parameters:
    ///   - call: Who asks.
    ///   - profile: Of which profile, where the data are of one.
    ///   - sites: Names of sites.
    func records(for call: Call, _ profile: ProfileName, _ sites: SiteNames) async throws(BridgeError)
        -> [WebsiteRecord]

    /// Removes data of the caller's user.
    ///
    /// - Parameters:
    ///   - selection: Which.
    ///   - call: Who asks.
    ///   - sites: Names of sites.
    /// - Returns: How many things were removed.
    func remove(
        _ selection: WebsiteSelection, for call: Call, _ sites: SiteNames
    ) async throws(BridgeError) -> Int
}

extension [WebsiteRecord] {
    /// With another thing of a site.
    mutating func add(_ name: String, byteCount: Int64, count: Int = 1, at places: inout [String: Int]) {
        guard let place = places[name] else {
            places[name] = self.count
            return append(WebsiteRecord(name: name, byteCount: byteCount, count: count))
        }
        self[place].byteCount += byteCount
        self[place].count += count
    }
}
