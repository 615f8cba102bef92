import HTTPRules
import TaskKit

/// The stored data of one site.
struct WebsiteRecord: Sendable {
    /// The registrable domain, or the host if it has none.
    var name: String
    var byteCount: Int64
    /// The number of items: files, cookies or responses.
    var count: Int
}

/// A selection of the data of the caller's user.
struct WebsiteSelection: Sendable {
    var profile = ProfileName.standard
    /// The registrable domains, with all hosts below; `nil` for all.
    var names: Set<String>?
    /// The origins; `nil` for all.
    var origins: Set<WebOrigin>?
    /// The earliest time of storage; `nil` for any.
    var since: UnixTime?

    /// Returns whether the selection contains data of an origin.
    ///
    /// - Parameters:
    ///   - origin: The origin.
    ///   - stored: The time of storage.
    ///   - sites: The names of sites.
    func contains(_ origin: WebOrigin, stored: UnixTime, _ sites: SiteNames) -> Bool {
        (names?.contains(sites.name(of: origin.host)) ?? true) && (origins?.contains(origin) ?? true)
            && (since.map { stored >= $0 } ?? true)
    }
}

/// The names that are used for the records of hosts.
struct SiteNames: Sendable {
    let suffixes: PublicSuffixList?

    func name(of host: Host) -> String { suffixes?.registrableDomain(of: host)?.text ?? host.text }
}

/// A store of one type of website data. Any thread.
protocol WebsiteDataStore: Sendable {
    /// The name of the type in `data.types`.
    var type: String { get }

    /// Returns the data of the caller's user, with a record for each site.
    ///
    /// - Parameters:
    ///   - call: The call of the client.
    ///   - profile: The profile, for data that belong to one.
    ///   - sites: Names of sites.
    func records(for call: Call, _ profile: ProfileName, _ sites: SiteNames) async throws(BridgeError)
        -> [WebsiteRecord]

    /// Removes data of the caller's user.
    ///
    /// - Parameters:
    ///   - selection: The selection.
    ///   - call: The call of the client.
    ///   - sites: Names of sites.
    /// - Returns: The number of removed items.
    func remove(
        _ selection: WebsiteSelection, for call: Call, _ sites: SiteNames
    ) async throws(BridgeError) -> Int
}

extension [WebsiteRecord] {
    /// Adds data to the record of a site.
    mutating func add(_ name: String, byteCount: Int64, count: Int = 1, at places: inout [String: Int]) {
        guard let place = places[name] else {
            places[name] = self.count
            return append(WebsiteRecord(name: name, byteCount: byteCount, count: count))
        }
        self[place].byteCount += byteCount
        self[place].count += count
    }
}
