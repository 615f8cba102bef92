import HTTPRules
import TaskKit

/// The data of all sites: of this plugin, of Cookies, and of a container, which provides `web.data.records` and
/// `web.data.remove`. Any thread.
struct WebsiteData: Sendable {
    /// The types of a container's data, as its engine names them.
    static let containerTypes = [
        "fetchCache", "sessionStorage", "localStorage", "indexedDB", "serviceWorkers", "webSQL",
    ]
    private static let containerRecords = "web.data.records"
    private static let containerRemove = "web.data.remove"

    let stores: [any WebsiteDataStore]
    let sites: SiteNames

    /// A site, with all its types of data.
    struct Site: Codable, Sendable {
        var name: String
        var types: [String]
        var bytes: Int64
        var count: Int
    }

    /// A type whose data could not be read or removed.
    struct Failure: Codable, Sendable {
        var types: [String]
        var code: String
        var message: String

        init(_ types: [String], _ error: BridgeError) {
            (self.types, code, message) = (types, error.code.rawValue, error.message)
        }
    }

    /// Returns the types that can be requested.
    func types(for call: Call) async -> [String] {
        let own = stores.map(\.type)
        let description: JSON? = try? await call.call(
            "bridge.describe", ["task": .string(Self.containerRecords)] as JSON)
        return description == nil ? own : own + Self.containerTypes
    }

    // MARK: Records

    /// Returns the stored data by site.
    ///
    /// - Parameters:
    ///   - types: The types; `nil` for all.
    ///   - profile: The profile.
    ///   - call: The call of the client.
    func records(
        _ types: Set<String>?, of profile: ProfileName, for call: Call
    ) async -> (sites: [Site], failures: [Failure]) {
        var found = FoundSites()
        var failures: [Failure] = []
        for store in stores where types?.contains(store.type) ?? true {
            do throws(BridgeError) {
                for record in try await store.records(for: call, profile, sites) {
                    found.add(record.name, [store.type], record.byteCount, record.count)
                }
            } catch {
                note(error, [store.type], in: &failures)
            }
        }
        if let wanted = wanted(types) {
            do throws(BridgeError) {
                let options: JSON = ["types": wanted, "profile": .string(profile.text)]
                let answer: JSON = try await call.call(Self.containerRecords, options)
                for record in answer["records"]?.arrayValue ?? [] { found.add(record) }
            } catch {
                note(error, Self.containerTypes, in: &failures)
            }
        }
        return (found.sites.sorted { $0.name < $1.name }, failures)
    }

    /// Records a failure. If no plugin provides the task, there are no such data, and nothing is recorded.
    private func note(_ error: BridgeError, _ types: [String], in failures: inout [Failure]) {
        if error.code != .taskNotFound { failures.append(Failure(types, error)) }
    }

    /// Returns the types to request from a container; `nil` if it is not called.
    private func wanted(_ types: Set<String>?) -> JSON? {
        let wanted = Self.containerTypes.filter { types?.contains($0) ?? true }
        return wanted.isEmpty ? nil : .array(wanted.map { .string($0) })
    }

    // MARK: Removing

    /// Removes data of all these types. The failure of one type does not affect the others.
    ///
    /// - Returns: The number of removed items of each type, where it is known.
    func remove(
        _ types: Set<String>, _ selection: WebsiteSelection, for call: Call
    ) async -> (removed: JSONObject, failures: [Failure]) {
        var removed = JSONObject()
        var failures: [Failure] = []
        for store in stores where types.contains(store.type) {
            do throws(BridgeError) {
                removed[store.type] = .number(JSONNumber(try await store.remove(selection, for: call, sites)))
            } catch {
                note(error, [store.type], in: &failures)
            }
        }
        if let wanted = wanted(types) {
            do throws(BridgeError) {
                let answer: JSON = try await call.call(Self.containerRemove, selection.json(wanted))
                for (type, count) in answer["removed"]?.objectValue ?? [:] where types.contains(type) {
                    removed[type] = count
                }
            } catch {
                note(error, Self.containerTypes.filter(types.contains), in: &failures)
            }
        }
        return (removed, failures)
    }
}

extension WebsiteSelection {
    /// Returns the selection as options for a container.
    fileprivate func json(_ types: JSON) -> JSON {
        var object: JSONObject = ["types": types, "profile": .string(profile.text)]
        object["names"] = names.map { .array($0.sorted().map { .string($0) }) }
        object["origins"] = origins.map { .array($0.map(\.text).sorted().map { .string($0) }) }
        object["since"] = since.map { .number(JSONNumber($0.seconds)) }
        return .object(object)
    }
}

/// The records of several stores, grouped by site.
private struct FoundSites {
    /// The maximum number of sites. A container's records come from another plugin and are therefore limited here.
    private static let maximumSites = 10_000

    private(set) var sites: [WebsiteData.Site] = []
    private var places: [String: Int] = [:]

    mutating func add(_ name: String, _ types: [String], _ byteCount: Int64, _ count: Int) {
        guard let place = places[name] else {
            guard sites.count < Self.maximumSites else { return }
            places[name] = sites.count
            return sites.append(.init(name: name, types: types, bytes: byteCount, count: count))
        }
        sites[place].types += types.filter { !sites[place].types.contains($0) }
        sites[place].bytes &+= byteCount
        sites[place].count &+= count
    }

    mutating func add(_ record: JSON) {
        guard let name = record["name"]?.stringValue else { return }
        let types = (record["types"]?.arrayValue ?? []).compactMap(\.stringValue)
        add(name, types, record["bytes"]?.int64Value ?? 0, Int(clamping: record["count"]?.int64Value ?? 1))
    }
}
