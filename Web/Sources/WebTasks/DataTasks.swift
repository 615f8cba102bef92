internal import BridgeClient
internal import BridgeJSON
internal import Glibc
internal import WebContainer
internal import WebKitViews

/// The options of `web.data.records` and `web.data.remove`. The daemon's plugin Fetch sends `profile`, `origins` and
/// `since`.
struct DataOptions: Codable, Sendable {
    var types: [WebsiteDataType]?
    var names: [String]?
    /// The time in seconds within which the data was changed; `nil` for all data.
    var within: Int?
    /// The time in seconds since 1970 since which the data was changed; `nil` for all data.
    var since: Int64?
    var origins: [String]?
    /// The profile of cookies. The engine's data belongs to `default`, which `nil` means as well.
    var profile: String?

    /// Whether the options select data of the engine.
    var selectsEngine: Bool { profile == nil || profile == "default" }

    /// Returns the age of the selected data; `nil` for all ages.
    ///
    /// - Parameter now: The time in seconds since 1970.
    /// - Throws: `options.invalid` for a selection that the engine does not support.
    func age(at now: Int64) throws(BridgeError) -> Duration? {
        guard origins == nil else {
            throw Self.refusal("$.origins", "the engine stores data by site: use names instead of origins")
        }
        guard within == nil || since == nil else {
            throw Self.refusal("$.since", "within and since cannot be combined; leave one out")
        }
        guard names == nil || (within == nil && since == nil) else {
            throw Self.refusal("$.names", "names cannot be combined with within or since; leave one out")
        }
        if let within { return .seconds(within) }
        // The engine takes 0 for all ages.
        return since.map { .seconds(max(1, now - $0)) }
    }

    private static func refusal(_ path: String, _ reason: String) -> BridgeError {
        BridgeError(.optionsInvalid, reason, data: ["path": .string(path)])
    }
}

extension ControlPlane {
    func provideData() async throws(BridgeError) {
        try await provide("web.data.records", "Lists the sites with data that the engine stores.") {
            (plane, options: DataOptions, call) in
            try plane.admit(call)
            return try await plane.records(options)
        }
        try await provide("web.data.remove", "Removes data that the engine stores for sites.") {
            (plane, options: DataOptions, call) in
            try plane.admit(call)
            return try await plane.remove(options)
        }
    }

    private func records(_ options: DataOptions) async throws -> JSON {
        guard options.selectsEngine else { return ["records": []] }
        let records = try await engine { () async throws(EngineError) in
            try await self.container.dataRecords(options.types ?? WebsiteDataType.allCases)
        }
        return [
            "records": .array(
                records.sorted { $0.name < $1.name }.map { record in
                    ["name": .string(record.name), "types": .array(record.types.map { .string($0.rawValue) })]
                })
        ]
    }

    private func remove(_ options: DataOptions) async throws -> JSON {
        guard options.selectsEngine else { return [:] }
        let now = Int64(time(nil))
        let age = try options.age(at: now)
        if let since = options.since, since > now { return [:] }
        try await engine { () async throws(EngineError) in
            try await self.container.removeData(
                options.types ?? WebsiteDataType.allCases, names: options.names.map { Set($0) }, within: age)
        }
        return [:]
    }
}
