import HTTPRules
import TaskKit

/// The query parameters and header fields that an operator adds to requests for some origins.
struct PublicParameters: Sendable {
    /// One table of the setting `parameters`.
    struct Rule: Sendable {
        var origins: [OriginPattern]
        var query: [(name: String, value: Template)]
        var headers: [(name: String, value: Template)]
        /// Whether the parameters replace existing ones with the same name.
        var overrides: Bool
        /// Whether the query parameters are part of the cache key.
        var isInKey: Bool
    }

    /// The values of the variables.
    struct Values: Sendable {
        let caller: Caller
        let install: String

        fileprivate func value(_ name: Variable) -> String {
            switch name {
            case .uid: String(caller.uid)
            case .user: caller.user ?? ""
            case .client: caller.client ?? ""
            case .origin: caller.origin
            case .version: FetchSettings.version
            case .install: install
            }
        }
    }

    enum Variable: String, CaseIterable, Sendable {
        case uid
        case user
        case client
        case origin
        case version
        case install
    }

    /// A value that may contain variables, such as `${uid}`.
    struct Template: Sendable {
        private enum Part: Sendable {
            case text(String)
            case variable(Variable)
        }

        private var parts: [Part] = []

        /// Creates a template; `nil` if a variable is unknown or not closed.
        init?(_ text: String) {
            var rest = text[...]
            while let start = rest.firstRange(of: "${") {
                parts.append(.text(String(rest[..<start.lowerBound])))
                rest = rest[start.upperBound...]
                guard let end = rest.firstIndex(of: "}"), let variable = Variable(rawValue: String(rest[..<end])) else {
                    return nil
                }
                parts.append(.variable(variable))
                rest = rest[rest.index(after: end)...]
            }
            parts.append(.text(String(rest)))
        }

        func text(_ values: Values) -> String {
            parts.map { part in
                switch part {
                case .text(let text): text
                case .variable(let variable): values.value(variable)
                }
            }.joined()
        }
    }

    var rules: [Rule] = []

    /// Returns the parameters that the rules add for a URL.
    ///
    /// - Returns: The names and values, in their order.
    func parameters(for url: WebURL, _ values: Values) -> (query: [(String, String)], headers: [(String, String)]) {
        let rules = rules.filter { $0.origins.contains { $0.matches(url.origin) } }
        return (
            rules.flatMap { $0.query.map { ($0.name, $0.value.text(values)) } },
            rules.flatMap { $0.headers.map { ($0.name, $0.value.text(values)) } }
        )
    }

    /// Adds the parameters of the matching rules to a request.
    ///
    /// - Throws: `options.invalid`, if the URL becomes too long.
    func add(to hop: inout Hop, _ values: Values) throws(BridgeError) {
        var key = hop.url
        for rule in rules where rule.origins.contains(where: { $0.matches(key.origin) }) {
            for (name, value) in rule.query {
                let text = value.text(values)
                hop.url = try Self.adding(name, text, to: hop.url, overrides: rule.overrides)
                if rule.isInKey { key = try Self.adding(name, text, to: key, overrides: rule.overrides) }
            }
            for (name, value) in rule.headers where rule.overrides || !hop.headers.contains(named: name) {
                // The value of a variable may not be a valid field value.
                if let field = HeaderField(name: name, value: value.text(values)) { hop.headers.set(field) }
            }
        }
        hop.keyURL = key == hop.url ? nil : key
    }

    private static func adding(
        _ name: String, _ value: String, to url: WebURL, overrides: Bool
    ) throws(BridgeError) -> WebURL {
        let (name, value) = (FormText.escaped(name), FormText.escaped(value))
        var pairs = (url.query ?? "").split(separator: "&", omittingEmptySubsequences: true).map(String.init)
        let isNamed = { (pair: String) in pair == name || pair.hasPrefix(name + "=") }
        if pairs.contains(where: isNamed) {
            guard overrides else { return url }
            pairs.removeAll(where: isNamed)
        }
        pairs.append("\(name)=\(value)")
        let fragment = url.fragment.map { "#\($0)" } ?? ""
        do throws(AddressRefusal) {
            return try WebURL("\(url.origin.text)\(url.path)?\(pairs.joined(separator: "&"))\(fragment)")
        } catch {
            throw .invalidURL(error)
        }
    }
}

/// Adds the public parameters to each request whose origin has some, before interceptors receive the request.
struct ParametersStage: HopStage {
    let install: InstallID

    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool { !context.settings.parameters.rules.isEmpty }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        var changed = hop
        let values = PublicParameters.Values(caller: context.call.caller, install: install.text)
        try context.settings.parameters.add(to: &changed, values)
        var response = try await next.load(changed, context)
        if changed.url != hop.url { response.url = response.url ?? changed.url }
        return response
    }
}
