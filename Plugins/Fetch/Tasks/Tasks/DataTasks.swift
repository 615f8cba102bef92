import HTTPRules
import TaskKit

/// `data.types`
struct DataTypesTask: BridgeTask {
    static let name = "data.types"
    static let summary = "Lists the types of data that are stored for sites."

    typealias Options = Empty

    struct Result: Codable, Sendable {
        var types: [String]
    }

    let data: WebsiteData

    func run(_ options: Empty, _ call: Call) async throws -> Result {
        try call.caller.requireProgram(Self.name)
        return Result(types: await data.types(for: call))
    }
}

/// `data.records`
struct DataRecordsTask: BridgeTask {
    static let name = "data.records"
    static let summary = "Lists the sites for which data of the user is stored."

    struct Options: Codable, Sendable {
        var types: [String]?
        var profile: String?
    }

    struct Result: Codable, Sendable {
        var records: [WebsiteData.Site]
        /// The types that could not be read; `nil` if there are none.
        var failed: [WebsiteData.Failure]?
    }

    let data: WebsiteData

    func run(_ options: Options, _ call: Call) async throws -> Result {
        try call.caller.requireProgram(Self.name)
        let (sites, failures) = await data.records(
            options.types.map { Set($0) }, of: try ProfileName(ofOptions: options.profile), for: call)
        return Result(records: sites, failed: failures.isEmpty ? nil : failures)
    }
}

/// `data.remove`
struct RemoveDataTask: BridgeTask {
    static let name = "data.remove"
    static let summary = "Removes data that is stored for sites."
    static let resultSchema: JSON? = [
        "type": "object",
        "properties": [
            "removed": [
                "type": "object", "additionalProperties": ["type": "integer"],
                "description": "the number of items of each type",
            ],
            "failed": [
                "type": "array",
                "items": [
                    "type": "object",
                    "properties": [
                        "types": ["type": "array", "items": ["type": "string"]], "code": ["type": "string"],
                        "message": ["type": "string"],
                    ],
                ],
            ],
        ],
        "required": ["removed"],
    ]

    struct Options: Codable, Sendable {
        var types: [String]
        var profile: String?
        var names: [String]?
        var origins: [String]?
        var since: Int64?
    }

    let data: WebsiteData

    func run(_ options: Options, _ call: Call) async throws -> JSON {
        try call.caller.requireProgram(Self.name)
        // A misspelt type must not be reported as removed.
        let known = data.stores.map(\.type) + WebsiteData.containerTypes
        for (index, type) in options.types.enumerated() where !known.contains(type) {
            throw BridgeError.invalidOption(
                "$.types[\(index)]", expected: "one of \(known.joined(separator: ", "))", got: JSON.string(type).text)
        }
        let (removed, failures) = await data.remove(Set(options.types), try selection(options), for: call)
        var result: JSONObject = ["removed": .object(removed)]
        if !failures.isEmpty {
            result["failed"] = .array(
                failures.map { failure in
                    [
                        "types": .array(failure.types.map { .string($0) }), "code": .string(failure.code),
                        "message": .string(failure.message),
                    ]
                })
        }
        return .object(result)
    }

    private func selection(_ options: Options) throws(BridgeError) -> WebsiteSelection {
        guard options.names == nil || options.origins == nil else {
            throw .invalidOption("$", expected: "names or origins", got: "both")
        }
        var origins: Set<WebOrigin>?
        for (index, text) in (options.origins ?? []).enumerated() {
            guard let origin = try? WebOrigin(international: text) else {
                throw .invalidOption(
                    "$.origins[\(index)]", expected: "an origin, such as https://example.org", got: "something else")
            }
            origins = (origins ?? []).union([origin])
        }
        if options.origins != nil, origins == nil { origins = [] }
        return WebsiteSelection(
            profile: try ProfileName(ofOptions: options.profile), names: options.names.map { Set($0) },
            origins: origins,
            since: options.since.map { UnixTime(seconds: $0) })
    }
}
