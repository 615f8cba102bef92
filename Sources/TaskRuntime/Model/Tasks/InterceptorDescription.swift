/// The outcome for a call whose interceptor fails: its process ends, its plugin stops, or its answer is invalid.
public enum InterceptorFailure: String, Sendable, Codable, CaseIterable {
    /// The call ends with the failure: for interceptors without which a call must not continue.
    case refuse
    /// The call continues as if the interceptor did not exist.
    case pass
}

/// A plugin's description of one of its interceptors.
public struct InterceptorDescription: Sendable, Hashable {
    /// Its name, unique in its plugin.
    public var name: String
    /// One sentence for a person.
    public var summary: String
    /// The tasks about whose calls it is asked: names, or prefixes of names followed by `*`.
    public var tasks: [String]
    /// The outcome for a call when it fails.
    public var onFailure: InterceptorFailure

    /// Creates a description.
    public init(name: String, summary: String = "", tasks: [String], onFailure: InterceptorFailure = .refuse) {
        self.name = name
        self.summary = summary
        self.tasks = tasks
        self.onFailure = onFailure
    }
}
