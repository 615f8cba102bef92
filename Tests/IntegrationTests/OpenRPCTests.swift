import BridgeJSON
import TestSupport
import Testing

@Suite("The OpenRPC document of a daemon with all shipped plugins", .blocking)
struct OpenRPCTests {
    private static func discover(_ wire: Wire) throws -> JSON {
        try wire.send(#"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#)
        return try #require(try wire.receive()["result"])
    }

    /// Returns OpenRPC's schema of documents, adapted to the daemon's checker.
    ///
    /// The published file refers to another document, the schema of JSON Schema draft 7, and leaves the
    /// version to its release; `additionalItems` beside one schema for all items has no effect.
    private static func metaSchema() throws -> SchemaCheck {
        let text = String(decoding: PublicSuite.openRPC.content(of: "schema.json"), as: UTF8.self)
        let parsed = try JSON(parsing: text.replacing(#""additionalItems": false,"#, with: ""))
        var schema = try #require(parsed.objectValue)
        var definitions = try #require(schema["definitions"]?.objectValue)
        definitions["JSONSchema"] = ["type": ["object", "boolean"]]
        definitions["referenceObject"] = [
            "type": "object", "required": ["$ref"], "additionalProperties": false,
            "properties": ["$ref": ["type": "string"]],
        ]
        schema["definitions"] = .object(definitions)
        var properties = try #require(schema["properties"]?.objectValue)
        properties["openrpc"] = ["type": "string", "pattern": #"^1\.3\.\d+$"#]
        schema["properties"] = .object(properties)
        schema["$schema"] = nil
        schema["$id"] = nil
        return try SchemaCheck(.object(schema))
    }

    @Test(
        "conforms to the schema of OpenRPC",
        .enabled(if: PublicSuite.openRPC.isThere, "\(PublicSuite.openRPC.missing)"))
    func metaSchema() throws {
        let check = try Self.metaSchema()
        try withDaemon { daemon in
            let document = try Self.discover(try daemon.connect())
            let methods = try #require(document["methods"]?.arrayValue)
            #expect(methods.count > 40)
            try document.bytes.withUnsafeBytes { try check.check($0) }
            // The check is effective: a parameter without a schema does not pass.
            let broken = document.text.replacing(#""schema":"#, with: #""x-other":"#)
            #expect(throws: SchemaMisfit.self) { try Array(broken.utf8).withUnsafeBytes { try check.check($0) } }
        }
    }

    @Test("lists each method and each of its parameters once, required parameters before optional ones")
    func order() throws {
        try withDaemon { daemon in
            let document = try Self.discover(try daemon.connect())
            var methods: [String: [String]] = [:]
            for method in document["methods"]?.arrayValue ?? [] {
                let name = try #require(method["name"]?.stringValue)
                let parameters = try #require(method["params"]?.arrayValue)
                #expect(methods[name] == nil)
                methods[name] = try parameters.map { try #require($0["name"]?.stringValue) }
                #expect(Set(methods[name] ?? []).count == parameters.count)
                let isRequired = parameters.map { $0["required"] == true }
                #expect(isRequired == isRequired.sorted { $0 && !$1 }, "\(name): \(methods[name] ?? [])")
            }
            #expect(methods["persistence.create"]?.prefix(2) == ["table", "record"])
            #expect(methods["Alert"]?.first == "content")
        }
    }

    @Test("lists parameters in the order of positional calls")
    func calls() throws {
        try withDaemon { daemon in
            let wire = try daemon.connect()
            try wire.send(#"{"jsonrpc":"2.0","method":"persistence.create","params":["notes",{"text":"milk"}],"id":1}"#)
            let created = try wire.receive()
            #expect(created["result"]?["key"] != nil, "\(created.text)")
            try wire.send(#"{"jsonrpc":"2.0","method":"Alert","params":["Buy milk"],"id":2}"#)
            // No presenter is registered, so the alert may fail, but not with invalid options.
            #expect(try wire.receive()["error"]?["data"]?["code"] != "options.invalid")
        }
    }
}
