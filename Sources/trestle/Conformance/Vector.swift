import BridgeJSON

/// One rule of the protocol: the sent messages and the expected answers. Tests/Conformance/README.md describes the
/// files.
struct Vector {
    /// A step on a connection.
    enum WireStep {
        case send(JSON)
        /// Sends text that need not be a message; names in it are replaced by values.
        case sendText(String)
        case sendBytes([UInt8])
        /// `<n>` in the unit is the number of the repetition, from 0; other names are replaced in all parts.
        case sendRepeated(prefix: String, unit: String, count: JSON, suffix: String)
        case receive(JSON)
        /// Skips lines up to one that matches the pattern.
        case skipTo(JSON)
        /// Expects exactly this line.
        case receiveText(String)
        /// Expects that no unread data has arrived.
        case nothing
        /// Ends sending; the connection remains open for receiving.
        case end
        /// Closes the connection.
        case close
        /// Expects that the daemon closes the connection.
        case closed
    }

    /// A step of a client library.
    enum ClientStep {
        case call(task: String, options: JSON?, timeout: Duration?, progress: [JSON]?, outcome: Outcome)
        case subscribe([String])
        case event(JSON)
        case register(task: String, answer: Answer)
        case unregister(task: String)
    }

    /// The expected end of a call, as a pattern.
    enum Outcome {
        case result(JSON)
        case error(JSON)
    }

    /// The answer of a task that the client provides.
    enum Answer {
        case echo
        case result(JSON, progress: [JSON])
        case error(JSON)
        case never
    }

    /// The file name without its extension.
    let name: String
    /// The rule, as a sentence.
    let rule: String
    /// The anchor in docs/protocol.md, docs/daemon-tasks.md or docs/plugin-tasks.md.
    let see: String
    /// Tasks that a daemon may lack; the vector is skipped without them.
    let needs: [String]
    let wire: [(step: WireStep, connection: String)]
    let client: [ClientStep]
}

/// The reason why a file is not a valid vector.
struct VectorError: Error, CustomStringConvertible {
    let description: String
}

/// Parses a vector. Unknown members are refused, so that a misspelt expectation is not ignored.
struct VectorReader {
    let file: String

    func read(_ bytes: [UInt8]) throws(VectorError) -> Vector {
        let json: JSON
        do { json = try JSON(parsing: bytes) } catch {
            throw VectorError(description: "\(file): it is not valid JSON: \(error)")
        }
        try allow(["rule", "see", "needs", "wire", "client"], in: json, "$")
        var wire: [(step: Vector.WireStep, connection: String)] = []
        for (index, step) in try list(json["wire"] ?? [], "$.wire").enumerated() {
            wire.append((try wireStep(step, "$.wire[\(index)]"), step["connection"]?.stringValue ?? "A"))
        }
        var client: [Vector.ClientStep] = []
        for (index, step) in try list(json["client"] ?? [], "$.client").enumerated() {
            client.append(try clientStep(step, "$.client[\(index)]"))
        }
        guard !wire.isEmpty || !client.isEmpty else { throw fault("$", "it has no steps: wire or client is missing") }
        let name = file.split(separator: "/").last.map { String($0.dropLast($0.hasSuffix(".json") ? 5 : 0)) } ?? file
        return Vector(
            name: name, rule: try string(json["rule"], "$.rule"), see: try string(json["see"], "$.see"),
            needs: try strings(json["needs"] ?? [], "$.needs"), wire: wire, client: client)
    }

    private func wireStep(_ step: JSON, _ path: String) throws(VectorError) -> Vector.WireStep {
        let kinds = [
            "send", "sendText", "sendHex", "sendRepeated", "receive", "skipTo", "receiveText", "nothing", "end",
            "close", "closed",
        ]
        try allow(kinds + ["connection"], in: step, path)
        let found = kinds.filter { step[$0] != nil }
        guard found.count == 1, let kind = found.first, let value = step[kind] else {
            throw fault(path, "it must have exactly one of \(kinds.joined(separator: ", "))")
        }
        switch kind {
        case "send": return .send(value)
        case "sendText": return .sendText(try string(value, "\(path).sendText"))
        case "sendHex": return .sendBytes(try bytes(try string(value, "\(path).sendHex"), "\(path).sendHex"))
        case "sendRepeated":
            return .sendRepeated(
                prefix: try string(value["prefix"], "\(path).sendRepeated.prefix"),
                unit: try string(value["unit"], "\(path).sendRepeated.unit"), count: value["count"] ?? .null,
                suffix: try string(value["suffix"], "\(path).sendRepeated.suffix"))
        case "receive": return .receive(value)
        case "skipTo": return .skipTo(value)
        case "receiveText": return .receiveText(try string(value, "\(path).receiveText"))
        case "nothing": return .nothing
        case "end": return .end
        case "close": return .close
        default: return .closed
        }
    }

    private func clientStep(_ step: JSON, _ path: String) throws(VectorError) -> Vector.ClientStep {
        let kinds = ["call", "subscribe", "event", "register", "unregister"]
        guard let kind = kinds.first(where: { step[$0] != nil }), let value = step[kind] else {
            throw fault(path, "it is one of \(kinds.joined(separator: ", "))")
        }
        switch kind {
        case "call": return try call(step, path)
        case "subscribe": return .subscribe(try strings(value, "\(path).subscribe"))
        case "event": return .event(value)
        case "register":
            return .register(task: try string(value, "\(path).register"), answer: try answer(step["answer"], path))
        default: return .unregister(task: try string(value, "\(path).unregister"))
        }
    }

    private func call(_ step: JSON, _ path: String) throws(VectorError) -> Vector.ClientStep {
        try allow(["call", "options", "timeoutMs", "progress", "result", "error"], in: step, path)
        let outcome: Vector.Outcome
        switch (step["result"], step["error"]) {
        case (let result?, nil): outcome = .result(result)
        case (nil, let error?): outcome = .error(error)
        default: throw fault(path, "a call ends with one of result and error")
        }
        return .call(
            task: try string(step["call"], "\(path).call"), options: step["options"],
            timeout: step["timeoutMs"]?.int64Value.map { .milliseconds($0) },
            progress: try step["progress"].map { (values) throws(VectorError) in try list(values, "\(path).progress") },
            outcome: outcome)
    }

    private func answer(_ answer: JSON?, _ path: String) throws(VectorError) -> Vector.Answer {
        guard let answer else { throw fault(path, "answer is missing") }
        if answer["echo"] == true { return .echo }
        if answer["never"] == true { return .never }
        if let error = answer["error"] { return .error(error) }
        guard let result = answer["result"] else { throw fault(path, "an answer is echo, result, error or never") }
        return .result(result, progress: try list(answer["progress"] ?? [], "\(path).answer.progress"))
    }

    // MARK: Parts

    private func fault(_ path: String, _ reason: String) -> VectorError {
        VectorError(description: "\(file): at \(path) \(reason)")
    }

    private func allow(_ keys: [String], in json: JSON, _ path: String) throws(VectorError) {
        guard let object = json.objectValue else { throw fault(path, "expected an object") }
        if let unknown = object.keys.first(where: { !keys.contains($0) }) {
            throw fault(path, "the member \(unknown) is unknown; known are \(keys.joined(separator: ", "))")
        }
    }

    private func list(_ json: JSON, _ path: String) throws(VectorError) -> [JSON] {
        guard let list = json.arrayValue else { throw fault(path, "expected an array") }
        return list
    }

    private func string(_ json: JSON?, _ path: String) throws(VectorError) -> String {
        guard let text = json?.stringValue else { throw fault(path, "expected a string") }
        return text
    }

    private func strings(_ json: JSON, _ path: String) throws(VectorError) -> [String] {
        var strings: [String] = []
        for (index, item) in try list(json, path).enumerated() { strings.append(try string(item, "\(path)[\(index)]")) }
        return strings
    }

    private func bytes(_ hex: String, _ path: String) throws(VectorError) -> [UInt8] {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == hex.utf8.count, digits.count % 2 == 0 else {
            throw fault(path, "pairs of hexadecimal digits were expected")
        }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
