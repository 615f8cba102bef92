import HTTPRules
import TaskKit

/// One table of the setting `parameters`.
struct ParameterSection: Codable, Sendable {
    /// The origins, or patterns for all origins below a domain: `https://api.example`, `https://*.example.org`.
    var origins: [String]
    /// Names and values for the query of URLs.
    var query: [String: String]?
    /// Names and values for headers.
    var headers: [String: String]?
    /// Whether the parameters replace existing ones with the same name.
    var override: Bool?
    /// Whether the query parameters are part of the cache key.
    var inKey: Bool?

    enum CodingKeys: String, CodingKey {
        case origins
        case query
        case headers
        case override
        case inKey = "in_key"
    }

    /// The description of the setting for operators.
    static let setting: JSON = [
        "description": """
        The query parameters and headers that are added to requests to some origins: tables with origins, query, \
        headers, override and in_key. Values may contain ${uid}, ${user}, ${client}, ${origin}, ${version} and \
        ${install}.
        """,
        "default": [],
    ]

    /// Returns the rule of this table.
    ///
    /// - Parameter path: The path of the table in the configuration.
    /// - Throws: If the table is invalid.
    func rule(at path: String, _ suffixes: PublicSuffixList?) throws(JSONMismatch) -> PublicParameters.Rule {
        var patterns: [OriginPattern] = []
        for (index, text) in origins.enumerated() {
            let pattern = try? OriginPattern(text)
            guard let pattern, suffixes?.isTooWide(pattern) != true else {
                throw JSONMismatch(
                    path: "\(path).origins[\(index)]",
                    expected: "an origin, such as https://api.example or https://*.example.org",
                    got: JSON.string(text).text)
            }
            patterns.append(pattern)
        }
        let fields = try Self.templates(headers, at: "\(path).headers")
        do throws(BridgeError) {
            _ = try RequestCheck(isPage: false).fields(fields.map { ($0.name, "") })
        } catch {
            throw JSONMismatch(path: "\(path).headers", expected: "fields that callers may set", got: "another one")
        }
        return PublicParameters.Rule(
            origins: patterns, query: try Self.templates(query, at: "\(path).query"), headers: fields,
            overrides: override ?? false, isInKey: inKey ?? true)
    }

    private static func templates(
        _ values: [String: String]?, at path: String
    ) throws(JSONMismatch) -> [(name: String, value: PublicParameters.Template)] {
        var templates: [(name: String, value: PublicParameters.Template)] = []
        for (name, text) in (values ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let template = PublicParameters.Template(text) else {
                let known = PublicParameters.Variable.allCases.map { "${\($0.rawValue)}" }.joined(separator: ", ")
                throw JSONMismatch(
                    path: "\(path).\(name)", expected: "a text, with none but these variables: \(known)",
                    got: JSON.string(text).text)
            }
            templates.append((name, template))
        }
        return templates
    }
}
