internal import BridgeClient
internal import BridgeJSON
internal import WebContainer
internal import WebKitViews
internal import WebProfiles

struct ScriptOptions: Codable, Sendable {
    var source: String
    var at: PageScript.Moment?
    var frames: PageScript.Frames?
    var world: PageScript.World?
    var origins: [String]?
}

struct StyleOptions: Codable, Sendable {
    var source: String
    var frames: PageScript.Frames?
    var origins: [String]?
}

struct ScriptRemovalOptions: Codable, Sendable {
    var script: Int?
    var all: Bool?
}

struct ParameterOptions: Codable, Sendable {
    var values: [String: String]
    var `in`: [Parameters.Place]?
    var origins: [String]?
}

struct UserAgentOptions: Codable, Sendable {
    var view: Int?
    var append: String?
    var replace: String?
}

extension ControlPlane {
    func provideDocuments() async throws(BridgeError) {
        try await provide("web.scripts.add", "Adds a script to future documents.") {
            (plane, options: ScriptOptions, call) in
            try plane.admit(call)
            let script = UserScript(
                options.source, at: options.at == .end ? .end : .start, isForAllFrames: options.frames == .all,
                world: options.world == .isolated ? PageScripts.isolatedWorld : nil)
            return try plane.add(.script, script, options.origins)
        }
        try await provide("web.styles.add", "Adds a style sheet to future documents.") {
            (plane, options: StyleOptions, call) in
            try plane.admit(call)
            return try plane.add(
                .style, UserScript(options.source, isForAllFrames: options.frames == .all), options.origins)
        }
        for (task, kind) in [("web.scripts", PageScripts.Kind.script), ("web.styles", .style)] {
            try await provide("\(task).remove", "Removes additions: future documents do not have them.") {
                (plane, options: ScriptRemovalOptions, call) in
                try plane.admit(call)
                return try plane.remove(options, kind)
            }
            try await provide("\(task).list", "Lists what was added.") { (plane, _: NoOptions, call) in
                try plane.admit(call)
                return ["scripts": .array(plane.list(kind))] as JSON
            }
        }
        try await provide("web.parameters.set", "Sets the parameters of pages of some origins.") {
            (plane, options: ParameterOptions, call) in
            try plane.admit(call)
            plane.container.parameters = try Self.parameters(options)
            return plane.described(plane.container.parameters)
        }
        try await provide("web.parameters.get", "Returns the public parameters.") { (plane, _: NoOptions, call) in
            try plane.admit(call)
            return plane.described(plane.container.parameters)
        }
        try await provide("web.userAgent.set", "Sets the user agent that servers receive.") {
            (plane, options: UserAgentOptions, call) in
            try plane.setUserAgent(options, call)
        }
    }

    private func add(_ kind: PageScripts.Kind, _ script: UserScript, _ origins: [String]?) throws -> JSON {
        let origins = try origins.map(Self.origins)
        guard let number = container.scripts.add(kind, script, origins: origins) else {
            throw BridgeError(
                .quotaExceeded,
                "at most \(PageScripts.maximum) scripts and styles, of \(PageScripts.maximumBytes) bytes together"
            )
        }
        return ["script": .number(JSONNumber(Int64(number)))]
    }

    private func remove(_ options: ScriptRemovalOptions, _ kind: PageScripts.Kind) throws -> JSON {
        let numbers =
            options.all == true
            ? container.scripts.entries.filter { $0.value.kind == kind }.map(\.key) : options.script.map { [$0] } ?? []
        guard options.all == true || container.scripts.entries[numbers.first ?? 0]?.kind == kind else {
            throw BridgeError("script.not_found", "there is no such \(kind.rawValue)")
        }
        for number in numbers { _ = container.scripts.remove(number) }
        return [:]
    }

    private func list(_ kind: PageScripts.Kind) -> [JSON] {
        container.scripts.entries.filter { $0.value.kind == kind }.sorted { $0.key < $1.key }.map { number, entry in
            var members: JSONObject = [
                "script": .number(JSONNumber(Int64(number))),
                "frames": entry.script.isForAllFrames ? "all" : "top",
            ]
            if kind == .script {
                members["at"] = entry.script.moment == .start ? "start" : "end"
                members["world"] = entry.script.world == nil ? "page" : "isolated"
            }
            members["origins"] = entry.origins.map { .array($0.map { .string($0.text) }) }
            return .object(members)
        }
    }

    /// Parses origins.
    ///
    /// - Throws: `options.invalid`.
    private static func origins(_ texts: [String]) throws -> [PageOrigin] {
        try texts.map { text in
            do throws(OriginRefusal) {
                return try PageOrigin(text)
            } catch {
                throw BridgeError(.optionsInvalid, "\(text) is not an origin: \(error)", data: ["path": "$.origins"])
            }
        }
    }

    private static func parameters(_ options: ParameterOptions) throws -> Parameters {
        var parameters = Parameters()
        for (name, value) in options.values {
            guard Parameters.isName(name), Parameters.isValue(value) else {
                throw BridgeError(
                    .optionsInvalid,
                    "\(name): a name has 1 to 64 letters, digits, - and _, a value at most 4096 bytes without control "
                        + "characters",
                    data: ["path": "$.values"])
            }
        }
        parameters.values = options.values
        parameters.places = Set(options.in ?? [.js])
        parameters.origins = Set(try origins(options.origins ?? []))
        return parameters
    }

    private func described(_ parameters: Parameters) -> JSON {
        var values = JSONObject()
        for (name, value) in parameters.values { values[name] = .string(value) }
        return [
            "values": .object(values), "in": .array(parameters.places.map(\.rawValue).sorted().map { .string($0) }),
            "origins": .array(parameters.origins.map(\.text).sorted().map { .string($0) }),
        ]
    }

    private func setUserAgent(_ options: UserAgentOptions, _ call: IncomingCall) throws -> JSON {
        try admit(call)
        let userAgent: WebView.UserAgent
        switch (options.append, options.replace) {
        case (nil, nil): userAgent = .own
        case (let text?, nil) where Parameters.isValue(text): userAgent = .appended(text)
        case (nil, let text?) where Parameters.isValue(text): userAgent = .replaced(text)
        default:
            throw BridgeError(
                .optionsInvalid, "name one of append and replace, at most 4096 bytes without control characters")
        }
        if let number = options.view {
            let page = try page(number, call)
            page.view.setUserAgent(userAgent)
            return ["userAgent": .string(page.view.userAgent)]
        }
        container.userAgent = userAgent
        return [:]
    }
}
