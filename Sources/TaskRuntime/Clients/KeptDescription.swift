import BridgeJSON

/// What the daemon keeps of a client's description of a task: schemas as text, which as values would take thirty times
/// as much memory.
struct KeptDescription {
    /// A schema that options are checked against takes this many times its text, at most, besides the text.
    private static let checkFactor = 8

    /// What a method's text has besides the texts of the description.
    private static let methodBytes = 512

    /// What a string takes besides its text.
    private static let stringBytes = 48

    let summary: String?
    let schemaTexts: SchemaTexts
    /// What the parameters of calls by position mean: no call has the schema read again.
    let parameters: TaskParameters

    init(_ provided: ProvidedDescription) {
        let schemas = provided.schemas
        summary = provided.summary
        schemaTexts = SchemaTexts(schemas)
        parameters = schemas.parameters
    }

    /// As values again.
    var provided: ProvidedDescription {
        let schemas = schemas
        return ProvidedDescription(
            summary: summary, options: schemas.options, result: schemas.result, progress: schemas.progress)
    }

    var schemas: TaskSchemas {
        // What is kept was JSON.
        func value(_ text: [UInt8]?) -> JSON? { text.flatMap { try? JSON(parsing: $0) } }
        return TaskSchemas(
            options: value(schemaTexts.options), result: value(schemaTexts.result),
            progress: value(schemaTexts.progress))
    }

    /// What it takes in memory, at most.
    var heldBytes: Int {
        textBytes + (schemaTexts.options?.count ?? 0) * Self.checkFactor + maximumMethodBytes
            + parameters.names.reduce(0) { $0 + $1.utf8.count + Self.stringBytes }
    }

    /// A longer text of the task as a method is not kept: ``ClientTask/method(of:for:)``.
    var maximumMethodBytes: Int { Self.methodBytes + textBytes }

    private var textBytes: Int {
        (summary?.utf8.count ?? 0) + (schemaTexts.options?.count ?? 0) + (schemaTexts.result?.count ?? 0)
            + (schemaTexts.progress?.count ?? 0)
    }
}
