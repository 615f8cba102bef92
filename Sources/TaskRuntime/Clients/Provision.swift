import BridgeJSON
import BridgeMessage

/// The terms on which a client provides a task.
struct Provision {
    var scope = ProviderScope.any
    /// The dialect of the calls to the client: the dialect of its registration.
    var dialect = DialectID.native
    private(set) var description: KeptDescription?
    var optionsSchema = OptionsSchema.none

    /// A provision without a description.
    init(scope: ProviderScope, dialect: DialectID) {
        (self.scope, self.dialect, description) = (scope, dialect, nil)
    }

    /// - Throws: If the schema of the options is invalid.
    init(scope: ProviderScope, dialect: DialectID, description: ProvidedDescription?) throws(JSONSchemaError) {
        self.init(scope: scope, dialect: dialect)
        self.description = description.map { KeptDescription($0) }
        optionsSchema = OptionsSchema(try description?.schemas.optionsCheck())
    }

    /// The provision of a session that the previous daemon handed over. Its schema stays text until the first call:
    /// there may be thousands of schemas, and all are entered together.
    init(restoring scope: ProviderScope, dialect: DialectID, description: ProvidedDescription?) {
        self.init(scope: scope, dialect: dialect)
        guard let description else { return }
        let kept = KeptDescription(description)
        self.description = kept
        if let text = kept.schemaTexts.options { optionsSchema = .unread(text) }
    }
}
