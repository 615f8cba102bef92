import BridgeJSON

/// The stored form of a client's description of a task. Schemas are kept as text, because values would take thirty
/// times as much memory.
struct KeptDescription {
    /// The maximum memory of a schema in the form for checks, as a multiple of its text, besides the text.
    private static let checkFactor = 8

    /// The number of bytes of a method's text besides the texts of the description.
    private static let methodBytes = 512

    /// The memory of a string besides its text.
    private static let stringBytes = 48

    let summary: String?
    let schemaTexts: SchemaTexts
    /// The names of positional parameters. They are kept so that a call does not read the schema again.
    let parameters: TaskParameters

    init(_ provided: ProvidedDescription) {
        let schemas = provided.schemas
        summary = provided.summary
        schemaTexts = SchemaTexts(schemas)
        parameters = schemas.parameters
    }

    /// The description with schemas as values.
    var provided: ProvidedDescription {
        let schemas = schemas
        return ProvidedDescription(
            summary: summary, options: schemas.options, result: schemas.result, progress: schemas.progress)
    }

    var schemas: TaskSchemas {
        // `try?`: the stored text was JSON.
        func value(_ text: [UInt8]?) -> JSON? { text.flatMap { try? JSON(parsing: $0) } }
        return TaskSchemas(
            options: value(schemaTexts.options), result: value(schemaTexts.result),
            progress: value(schemaTexts.progress))
    }

    /// The maximum memory of the description, in bytes.
    var heldBytes: Int {
        textBytes + (schemaTexts.options?.count ?? 0) * Self.checkFactor + maximumMethodBytes
            + parameters.names.reduce(0) { $0 + $1.utf8.count + Self.stringBytes }
    }

    /// The maximum length of a method's text that ``ClientTask/method(of:for:)`` keeps.
    var maximumMethodBytes: Int { Self.methodBytes + textBytes }

    private var textBytes: Int {
        (summary?.utf8.count ?? 0) + (schemaTexts.options?.count ?? 0) + (schemaTexts.result?.count ?? 0)
            + (schemaTexts.progress?.count ?? 0)
    }
}
