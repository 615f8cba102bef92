/// What becomes of a call whose interceptor fails: its process ends, its plugin stops, its answer makes no sense.
public enum InterceptorFailure: String, Sendable, Codable, CaseIterable {
    /// The call ends with the failure: for interceptors without which a call must not go on.
    case refuse
    /// The call goes on as if the interceptor were not there.
    case pass
}

/// What a plugin says of one of its interceptors.
public struct InterceptorDescription: Sendable, Hashable {
    /// Its name, unique in its plugin.
    public var name: String
    /// One sentence for a person.
    public var summary: String
    /// Whose calls it is asked about: names of tasks, or with a `*` at the end beginnings of names.
    public var tasks: [String]
    /// What becomes of a call when it fails.
    public var onFailure: InterceptorFailure

    /// An interceptor.
    public init(name: String, summary: String = "", tasks: [String], onFailure: InterceptorFailure = .refuse) {
        self.name = name
        self.summary = summary
        self.tasks = tasks
        self.onFailure = onFailure
    }
}
