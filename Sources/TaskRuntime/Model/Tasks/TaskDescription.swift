public import BridgeJSON

/// How long a task's calls may take.
public enum TaskDeadline: Sendable, Hashable {
    /// As long as the daemon allows any call.
    case standard
    /// As long as they like, unless the call itself says otherwise.
    case none
    /// This long, unless the call itself says otherwise.
    case after(Duration)
}

/// What is known of a task before it is called.
public struct TaskDescription: Sendable {
    /// The name by which it is called.
    public var name: String
    /// One sentence for a person.
    public var summary: String
    /// The permission that its callers need.
    public var permission: String
    /// Whether members of the group that the daemon is there for may call it where no rule says anything.
    public var isPublic: Bool
    /// Options that name what not every caller may name, each with the verb that the policy has to allow the caller.
    public var optionPermissions: [String: PolicyVerb]
    /// How long a call may take.
    public var deadline: TaskDeadline
    /// How many calls may run in parallel; nil: any number.
    public var concurrency: Int?
    /// How long options may be, in bytes of JSON; longer ones are refused before anything reads them.
    public var optionBytes: Int
    /// Whether options and results are secret: never logged, never shown.
    public var isPrivate: Bool
    /// What is known of its options and results from the start; a plugin may report more when it is asked.
    public var schemas: TaskSchemas

    /// How long options may be where a task says nothing: what is decoded on the loop in well under a share of time
    /// that others notice. Tasks that hand options on as text, or decode them elsewhere, say more.
    public static let usualOptionBytes = 64 * 1024

    /// A description; all but the name may be left out.
    public init(
        name: String, summary: String = "", permission: String? = nil, isPublic: Bool = false,
        optionPermissions: [String: PolicyVerb] = [:], deadline: TaskDeadline = .standard,
        concurrency: Int? = nil, isPrivate: Bool = false, optionBytes: Int = TaskDescription.usualOptionBytes,
        schemas: TaskSchemas = TaskSchemas()
    ) {
        self.name = name
        self.summary = summary
        self.permission = permission ?? name
        self.isPublic = isPublic
        self.optionPermissions = optionPermissions
        self.deadline = deadline
        self.concurrency = concurrency
        self.isPrivate = isPrivate
        self.optionBytes = optionBytes
        self.schemas = schemas
    }
}

/// ``TaskSchemas`` as text.
struct SchemaTexts {
    var options: [UInt8]?
    var result: [UInt8]?
    var progress: [UInt8]?

    init() {}

    init(_ schemas: TaskSchemas) {
        options = schemas.options?.bytes
        result = schemas.result?.bytes
        progress = schemas.progress?.bytes
    }
}

/// What a task takes and gives, as JSON Schemas; nil: not described.
public struct TaskSchemas: Codable, Sendable, Hashable {
    /// Of the options.
    public var options: JSON?
    /// Of the result.
    public var result: JSON?
    /// Of the progress.
    public var progress: JSON?

    /// Schemas; those that are left out are not described.
    public init(options: JSON? = nil, result: JSON? = nil, progress: JSON? = nil) {
        self.options = options
        self.result = result
        self.progress = progress
    }

    /// What the parameters of calls by position mean.
    var parameters: TaskParameters { TaskParameters(of: options) }

    /// What options are checked against before the task is called; nil: anything fits.
    ///
    /// - Throws: ``JSONSchemaError`` where the options' schema is none.
    func optionsCheck() throws(JSONSchemaError) -> SchemaCheck? {
        guard let options else { return nil }
        let check = try SchemaCheck(options)
        return check.allowsAnything ? nil : check
    }
}
