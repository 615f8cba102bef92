import ArgumentParser
import BridgeJSON

/// The parts of a request, as options of `trestle fetch`.
struct FetchRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .long],
        help: ArgumentHelp("The method. Without it: GET, or POST with a body.", valueName: "name"))
    var method: String?

    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp("A header. May be repeated.", valueName: "name:value"))
    var header: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The body: text, the bytes of a file, or with @- those of standard input.", valueName: "text | @file"),
        completion: .file())
    var data: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The same, as application/json.", valueName: "json | @file"), completion: .file())
    var dataJson: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A field of the form that is sent as the body. May be repeated.", valueName: "name=value"))
    var form: [String] = []

    @Option(
        help: ArgumentHelp(
            "How to use the cache: a name of fetch or of NSURLRequest, such as no-store, reload, "
                + "force-cache, only-if-cached.", valueName: "name"),
        completion: .list([
            "default", "no-store", "reload", "reload-local", "no-cache", "force-cache", "only-if-cached",
        ]))
    var policy: String?

    @Flag(help: "Return the cached response, regardless of its age, without a request: --policy only-if-cached.")
    var offline = false

    @Flag(name: .customLong("no-follow"), help: "Do not follow redirects.")
    var keepsRedirects = false

    @Option(help: ArgumentHelp("The maximum number of bytes of the response's body.", valueName: "number"))
    var maxBytes: Int64?

    /// Whether the request has a body.
    var hasBody: Bool { data != nil || dataJson != nil || !form.isEmpty }

    func validate() throws {
        guard [data != nil, dataJson != nil, !form.isEmpty].count(where: { $0 }) < 2 else {
            throw ValidationError("--data, --data-json and --form exclude each other")
        }
        if policy != nil, offline { throw ValidationError("--policy and --offline exclude each other") }
        _ = try body()
        _ = try headers()
    }

    /// Returns the options of `http.fetch`. A file is represented by its name, as the stream of the body.
    func options(_ url: String, asksForHead: Bool, wantsHAR: Bool = false) throws -> JSONObject {
        var options: JSONObject = ["url": .string(url), "respond": "headers", "as": asksForHead ? "none" : "stream"]
        let implied: String? = asksForHead ? "HEAD" : hasBody ? "POST" : nil
        options["method"] = (method ?? implied).map(JSON.string)
        if !header.isEmpty { options["headers"] = .array(try headers()) }
        options["body"] = try body()
        let policy = offline ? "only-if-cached" : policy
        options["cache"] = policy.map(JSON.string)
        if keepsRedirects { options["redirect"] = "manual" }
        if wantsHAR { options["har"] = true }
        options["maxBytes"] = maxBytes.map { .number(JSONNumber($0)) }
        return options
    }

    private func headers() throws -> [JSON] {
        try header.map { line in
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
                throw ValidationError("--header: expected a name, a colon and a value; got '\(line)'")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return [.string(String(line[..<colon])), .string(String(value))]
        }
    }

    private func body() throws -> JSON? {
        if let data { return Self.isFile(data) ? ["stream": .string(data)] : ["text": .string(data)] }
        if let dataJson {
            if Self.isFile(dataJson) { return ["stream": .string(dataJson), "type": "application/json"] }
            do throws(JSONSyntaxError) {
                _ = try JSON(parsing: dataJson)
            } catch {
                throw ValidationError("--data-json: this is not valid JSON: \(error)")
            }
            // Unchanged.
            return ["text": .string(dataJson), "type": "application/json"]
        }
        guard !form.isEmpty else { return Optional<JSON>.none }
        return ["form": .object(try fields())]
    }

    private static func isFile(_ data: String) -> Bool { data.hasPrefix("@") }

    private func fields() throws -> JSONObject {
        var fields = JSONObject()
        for field in form {
            guard let separator = field.firstIndex(of: "="), separator > field.startIndex else {
                throw ValidationError("--form: expected name=value; got '\(field)'")
            }
            let name = String(field[..<separator])
            guard fields[name] == nil else {
                throw ValidationError("--form: '\(name)' occurs twice; write the body yourself, with --data")
            }
            fields[name] = .string(String(field[field.index(after: separator)...]))
        }
        return fields
    }
}
