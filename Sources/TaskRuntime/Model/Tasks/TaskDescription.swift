public import BridgeJSON

/// How long a task's calls may take.
public enum TaskDeadline: Sendable, Hashable {
    /// As long as the daemon's standard timeout.
    case standard
    /// No limit, unless the call itself specifies one.
    case none
    /// This long, unless the call itself specifies another limit.
    case after(Duration)
}

/// The description of a task.
public struct TaskDescription: Sendable {
    /// The name by which it is called.
    public var name: String
    /// One sentence for a person.
    public var summary: String
    /// The permission that callers need.
    public var permission: String
    /// Whether members of the daemon's group may call it if no rule applies.
    public var isPublic: Bool
    /// The options that name restricted things, each with the verb that the policy must allow the caller.
    public var optionPermissions: [String: PolicyVerb]
    /// The time limit of a call.
    public var deadline: TaskDeadline
    /// The maximum number of parallel calls; `nil` for no limit.
    public var concurrency: Int?
    /// The maximum length of options, in bytes of JSON; longer options are refused before they are read.
    public var optionBytes: Int
    /// Whether options and results are secret: never logged, never shown.
    public var isPrivate: Bool
    /// The schemas known from the start; a plugin may report more when asked.
    public var schemas: TaskSchemas

    /// The default maximum length of options: the loop decodes them in a time that other clients do not notice. Tasks
    /// that pass options on as text, or decode them elsewhere, set a higher limit.
    public static let usualOptionBytes = 64 * 1024

    /// Creates a description. All parameters but the name are optional.
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

/// The JSON Schemas of a task's options and results; `nil` where not described.
public struct TaskSchemas: Codable, Sendable, Hashable {
    /// The schema of the options.
    public var options: JSON?
    /// The schema of the result.
    public var result: JSON?
    /// The schema of the progress.
    public var progress: JSON?

    /// Creates schemas; those that are omitted are not described.
    public init(options: JSON? = nil, result: JSON? = nil, progress: JSON? = nil) {
        self.options = options
        self.result = result
        self.progress = progress
    }

    /// The meaning of positional parameters.
    var parameters: TaskParameters { TaskParameters(of: options) }

    /// Returns the check for options before the task is called; `nil` if any options are valid.
    ///
    /// - Throws: ``JSONSchemaError`` if the options' schema is invalid.
    func optionsCheck() throws(JSONSchemaError) -> SchemaCheck? {
        guard let options else { return nil }
        let check = try SchemaCheck(options)
        return check.allowsAnything ? nil : check
    }
}
