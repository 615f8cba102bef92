import BridgeJSON
import BridgeMessage

/// That a client provides a task, and how.
struct Provision {
    var scope = ProviderScope.any
    /// The dialect in which it is called: that in which it registered.
    var dialect = DialectID.native
    private(set) var description: KeptDescription?
    var optionsSchema = OptionsSchema.none

    /// Nothing is said of the task.
    init(scope: ProviderScope, dialect: DialectID) {
        (self.scope, self.dialect, description) = (scope, dialect, nil)
    }

    /// - Throws: where the options' schema is none.
    init(scope: ProviderScope, dialect: DialectID, description: ProvidedDescription?) throws(JSONSchemaError) {
        self.init(scope: scope, dialect: dialect)
        self.description = description.map { KeptDescription($0) }
        optionsSchema = OptionsSchema(try description?.schemas.optionsCheck())
    }

    /// What a session that goes on provided in the daemon before. Its schema stays text until the first call: there may
    /// be thousands of them, and all are entered together.
    init(restoring scope: ProviderScope, dialect: DialectID, description: ProvidedDescription?) {
        self.init(scope: scope, dialect: dialect)
        guard let description else { return }
        let kept = KeptDescription(description)
        self.description = kept
        if let text = kept.schemaTexts.options { optionsSchema = .unread(text) }
    }
}
