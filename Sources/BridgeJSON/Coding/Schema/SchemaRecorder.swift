/// A decoder that notes what it is asked for and answers with the plainest value.
final class SchemaRecorder: Decoder {
    let path: [PathStep]
    /// The types that are being recorded around this place: one that comes again would have no end.
    let types: [any Any.Type]
    private var content = Content.anything
    private var properties: [(name: String, schema: () -> JSON)] = []
    private var required: [String] = []

    private enum Content {
        case anything, object
        case schema(JSON)
    }

    /// Types inside types, at most. Some have no end without ever coming again: `struct A<T> { var next: A<[T]>? }`.
    private static let deepestNesting = 64

    init(path: [PathStep], types: [any Any.Type]) {
        self.path = path
        self.types = types
    }

    /// The schema of what was asked for.
    var schema: JSON {
        switch content {
        case .anything: return true
        case .schema(let schema): return schema
        case .object:
            var members = JSONObject()
            for property in properties { members[property.name] = property.schema() }
            var schema: JSONObject = ["type": "object", "properties": .object(members)]
            if !required.isEmpty { schema["required"] = .array(required.map(JSON.string)) }
            return .object(schema)
        }
    }

    func note(_ schema: JSON) { content = .schema(schema) }

    /// - Parameter schema: asked for when all is recorded, for members that are read in pieces.
    func noteMember(_ name: String, isRequired: Bool, _ schema: @escaping () -> JSON) {
        properties.append((name, schema))
        if isRequired, !required.contains(name) { required.append(name) }
    }

    /// The error of a type that asks for what a recorder does not have.
    func byHand(_ reason: String, at step: PathStep? = nil) -> JSONSchemaError {
        JSONSchemaError(path: (path + (step.map { [$0] } ?? [])).text, reason: "\(reason); write the schema by hand")
    }

    // MARK: Decoder

    var codingPath: [any CodingKey] { path.codingKeys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        content = .object
        return KeyedDecodingContainer(RecordedMembers<Key>(recorder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw byHand("an array is read in pieces") }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { RecordedValue(recorder: self) }

    // MARK: Recording

    /// The schema of a type, and a value of it for whoever asked. The casts are from a type to itself.
    static func record<T: Decodable>(
        _ type: T.Type, at path: [PathStep], within types: [any Any.Type]
    ) throws -> (schema: JSON, value: T) {
        if let (schema, value) = try KnownSchema.of(type, at: path, within: types) { return (schema, value as! T) }
        let recorder = SchemaRecorder(path: path, types: types + [type])
        guard !types.contains(where: { $0 == type }), types.count < deepestNesting else {
            throw recorder.byHand("\(type) refers to itself")
        }
        do {
            let value = try T(from: recorder)
            return (recorder.schema, value)
        } catch let error as JSONSchemaError {
            throw error
        } catch {
            throw recorder.byHand(
                "\(type) asks for more than a plain value of each kind: list an enumeration's cases (CaseIterable)")
        }
    }
}

/// A single value.
struct RecordedValue: SingleValueDecodingContainer {
    let recorder: SchemaRecorder

    var codingPath: [any CodingKey] { recorder.codingPath }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try record(type) }

    private func record<T: Decodable>(_ type: T.Type) throws -> T {
        let (schema, value) = try SchemaRecorder.record(type, at: recorder.path, within: recorder.types)
        recorder.note(schema)
        return value
    }

    // The standard library answers for these two itself, unless they are named.
    func decode(_ type: Int128.Type) throws -> Int128 { try record(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try record(type) }
}
