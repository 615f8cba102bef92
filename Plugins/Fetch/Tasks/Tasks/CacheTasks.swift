import HTTPRules
import TaskKit

/// The common part of the tasks about the cache. A page has access to its own site's part in the default profile, and a
/// program to all entries of its user.
protocol CacheTask: BridgeTask {
    var service: FetchService { get }
}

extension CacheTask {
    /// Returns the selection of a caller's options.
    func selection(_ filter: CacheFilter, _ caller: Caller) throws(BridgeError) -> CacheSelection {
        var selection = CacheSelection(uid: caller.uid)
        selection.profile = filter.profile
        if caller.origin != CachePartition.localSite {
            guard filter.profile == nil || filter.profile == .standard else {
                throw BridgeError(.permissionDenied, "a page can use only the profile \(ProfileName.standard.text)")
            }
            selection.profile = .standard
            selection.site = CachePartition.site(of: caller.origin, service.suffixes)
        }
        if let site = filter.site {
            guard selection.site == nil || selection.site == site else {
                throw BridgeError(.permissionDenied, "a page can use only its own site's part of the cache")
            }
            selection.site = site
        }
        selection.url = try filter.url.map { (text) throws(BridgeError) in try Self.url(text).text }
        var origins: [String] = []
        for text in filter.origins ?? [] {
            guard let origin = try? WebOrigin(international: text) else {
                throw .invalidOption("$.origins", expected: "origins, such as https://a.example", got: text)
            }
            origins.append(origin.text)
        }
        if filter.origins != nil { selection.origins = origins }
        selection.since = filter.since.map { UnixTime(seconds: $0) }
        return selection
    }

    private static func url(_ text: String) throws(BridgeError) -> WebURL {
        do throws(AddressRefusal) { return try WebURL(text) } catch { throw .invalidURL(error) }
    }

    /// Runs an operation on the rows of the caller.
    func perform<T: Sendable>(
        _ caller: Caller, removes: Bool = false, _ body: @escaping @Sendable (inout CacheRows) throws -> T
    ) async throws(BridgeError) -> T {
        guard let result = await service.cache.perform(of: caller.uid, removes: removes, body) else {
            throw BridgeError.cacheUnusable
        }
        return result
    }
}

/// The options that select entries.
struct CacheFilter: Decodable, Sendable {
    /// The maximum number of origins. It limits the work for one message.
    static let maximumOrigins = 100

    var profile: ProfileName?
    var site: String?
    var url: String?
    var origins: [String]?
    var since: Int64?

    init(from decoder: any Decoder) throws { try self.init(from: decoder, besides: []) }

    /// Decodes the options.
    ///
    /// - Parameters:
    ///   - decoder: The decoder.
    ///   - others: The names of the task's other options.
    init(from decoder: any Decoder, besides others: [String]) throws {
        let fields = try Fields(from: decoder)
        try decoder.refuseUnknown(["profile", "site", "url", "origins", "since"] + others)
        (site, url, origins, since) = (fields.site, fields.url, fields.origins, fields.since)
        profile = try fields.profile.map { (text) throws(JSONMismatch) in try ProfileName(option: text) }
        if let count = origins?.count, count > Self.maximumOrigins {
            throw JSONMismatch(path: "$.origins", expected: "at most \(Self.maximumOrigins)", got: "\(count)")
        }
    }

    private struct Fields: Decodable {
        var profile: String?
        var site: String?
        var url: String?
        var origins: [String]?
        var since: Int64?
    }

    /// Whether the options contain a criterion.
    var isSelective: Bool { profile != nil || site != nil || url != nil || origins != nil || since != nil }

    static func schema(_ more: [String: JSON] = [:]) -> JSON {
        var properties: JSONObject = [
            "profile": ["type": "string", "description": "the profile of cookies; without it, all profiles"],
            "site": ["type": "string", "description": "the site of the sessions that fetched: local, or a site"],
            "url": ["type": "string"],
            "origins": ["type": "array", "items": ["type": "string"], "maxItems": .number(JSONNumber(maximumOrigins))],
            "since": ["type": "integer", "description": "stored then or later, in seconds since 1970"],
        ]
        for (name, value) in more { properties[name] = value }
        return ["type": "object", "properties": .object(properties), "additionalProperties": false]
    }
}

/// `http.cache.info`: the size of the cache.
struct CacheInfoTask: CacheTask {
    static let name = "http.cache.info"
    static let summary = "Returns the size of the caller's cache, in total and for each origin."
    static let optionsSchema: JSON? = CacheFilter.schema()

    /// The maximum number of origins in a result.
    private static let maximumOrigins = 200

    let service: FetchService

    func run(_ options: CacheFilter, _ call: Call) async throws -> JSON {
        let selection = try selection(options, call.caller)
        let (total, origins) = try await perform(call.caller) { rows in
            (try rows.total(selection), try rows.usage(selection, limit: Self.maximumOrigins))
        }
        return [
            "bytes": .number(JSONNumber(total.bytes)), "count": .number(JSONNumber(total.count)),
            "limit": .number(JSONNumber(service.settings.cache.userBytes)),
            "origins": .array(
                origins.map {
                    [
                        "profile": .string($0.profile), "site": .string($0.site), "origin": .string($0.origin),
                        "bytes": .number(JSONNumber($0.bytes)), "count": .number(JSONNumber($0.count)),
                    ]
                }),
        ]
    }
}

/// `http.cache.list`: the stored entries.
struct CacheListTask: CacheTask {
    static let name = "http.cache.list"
    static let summary = "Lists the caller's cached responses: URLs, sizes and times, without bodies."
    static let optionsSchema: JSON? = CacheFilter.schema([
        "after": ["type": "integer", "minimum": 0, "description": "the member next of the previous page"]
    ])

    /// The maximum number of entries in a page. A URL may have 8 KiB.
    private static let pageEntries = 50

    struct Options: Decodable, Sendable {
        var filter: CacheFilter
        var after: Int64?

        private enum CodingKeys: CodingKey { case after }

        init(from decoder: any Decoder) throws {
            filter = try CacheFilter(from: decoder, besides: ["after"])
            after = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Int64.self, forKey: .after)
        }
    }

    let service: FetchService

    func run(_ options: Options, _ call: Call) async throws -> JSON {
        let selection = try selection(options.filter, call.caller)
        let after = options.after ?? 0
        let entries = try await perform(call.caller) { rows in
            try rows.list(selection, after: after, limit: Self.pageEntries + 1)
        }
        var result: JSONObject = ["entries": .array(entries.prefix(Self.pageEntries).map(Self.json))]
        if entries.count > Self.pageEntries {
            result["next"] = .number(JSONNumber(entries[Self.pageEntries - 1].id))
        }
        return .object(result)
    }

    private static func json(_ entry: CacheRows.Summary) -> JSON {
        var json: JSONObject = [
            "url": .string(entry.url), "profile": .string(entry.profile), "site": .string(entry.site),
            "status": .number(JSONNumber(entry.status)), "bytes": .number(JSONNumber(entry.bytes)),
            "complete": .bool(entry.isComplete), "stored": .number(JSONNumber(entry.storedAt)),
            "used": .number(JSONNumber(entry.usedAt)), "freshUntil": .number(JSONNumber(entry.freshUntil)),
        ]
        json["type"] = entry.type.map { .string($0) }
        return .object(json)
    }
}

/// `http.cache.remove`: removes stored entries.
struct CacheRemoveTask: CacheTask {
    static let name = "http.cache.remove"
    static let summary = "Removes responses from the caller's part of the cache."
    static let optionsSchema: JSON? = CacheFilter.schema(["all": ["type": "boolean"]])

    struct Options: Decodable, Sendable {
        var filter: CacheFilter
        var all: Bool?

        private enum CodingKeys: CodingKey { case all }

        init(from decoder: any Decoder) throws {
            filter = try CacheFilter(from: decoder, besides: ["all"])
            all = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Bool.self, forKey: .all)
        }
    }

    let service: FetchService

    func run(_ options: Options, _ call: Call) async throws -> JSON {
        let isSelective = options.filter.isSelective
        guard isSelective != (options.all == true) else {
            throw BridgeError.invalidOption("$", expected: "all, or a selection", got: isSelective ? "both" : "neither")
        }
        let selection = try selection(options.filter, call.caller)
        // Responses that are still arriving would be stored again.
        service.shared.stopKeeping(of: call.caller.uid)
        let removed = try await perform(call.caller, removes: true) { rows in
            let removed = try rows.remove(selection)
            return [removed.bytes, Int64(removed.count)]
        }
        return ["removed": .number(JSONNumber(removed[1])), "bytes": .number(JSONNumber(removed[0]))]
    }
}
