public import BridgeJSON
public import WebOrigins

/// An action that a policy allows or denies.
public enum PolicyVerb: String, Sendable, CaseIterable {
    /// Calling a task. The names are permissions, which tasks require of their callers.
    case call
    /// Providing a task to others. The names are those of tasks.
    case register
    /// Receiving calls of other users for a task that the session provides. The names are those of tasks.
    case serve
    /// Sending an event. The names are those of events.
    case publish
    /// Replacing or removing a retained event of another user or origin. The names are those of events.
    case replace
    /// Receiving events. The names are those of events.
    case subscribe
    /// Choosing the session that receives a call. The names are those of tasks.
    case address
    /// Closing another session. No names.
    case close
    /// Representing an origin. The names are origins.
    case origin
    /// Using the data stored for another user or origin. The names are namespaces: a user id, a colon and an origin.
    case store
    /// Sending a request to an origin of the web through the daemon. The names are origins, such as
    /// `https://api.example`.
    case reach

    /// The verbs that options can require. The daemon's own operations check the others.
    static let ofOptions: [PolicyVerb] = [.store, .reach]
}

/// A name, or all names with a prefix if it ends with `*`. In a rule about `reach`, an origin or all origins below a
/// domain.
public struct PolicyName: Sendable, Hashable {
    /// The name as it is written; for origins the canonical text.
    public let text: String
    /// The origins that it matches; `nil` for a name of a verb other than `reach`.
    public let origins: OriginPattern?

    /// Whether the two have the same bytes.
    public static func == (left: PolicyName, right: PolicyName) -> Bool { left.text.isExactly(right.text) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(ExactText(text)) }

    /// `nil` if the text is empty, or contains a `*` before its end.
    public init?(_ text: String) {
        guard !text.isEmpty, !text.dropLast().contains("*") else { return nil }
        self.text = text
        origins = nil
    }

    /// Creates a name in a rule about `reach`.
    public init(_ origins: OriginPattern) {
        text = origins.text
        self.origins = origins
    }

    private var isPrefix: Bool { text.utf8.last == UInt8(ascii: "*") }

    func matches(_ name: String) -> Bool {
        if let origins { return (try? WebOrigin(name)).map { origins.matches($0) } ?? false }
        // Compared by bytes, as all names: Swift treats two Unicode spellings of an accented letter as equal, but the
        // receiver of the name may not.
        return isPrefix ? name.utf8.starts(with: text.utf8.dropLast()) : name.isExactly(text)
    }

    /// Whether this name matches everything that the other matches.
    public func covers(_ other: PolicyName) -> Bool {
        if let origins, let others = other.origins { return origins.covers(others) }
        guard isPrefix else { return self == other }
        return other.text.utf8.starts(with: text.utf8.dropLast())
    }
}

/// One rule that allows or denies actions. A condition that is absent matches everything.
public struct PolicyRule: Sendable, Hashable {
    /// The effect of a rule on the clients that it matches.
    public enum Effect: String, Sendable {
        /// The action is allowed, unless another rule denies it.
        case allow
        /// The action is denied, regardless of other rules.
        case deny
    }

    /// Whether it allows or denies.
    public var effect: Effect
    /// The actions.
    public var verbs: [PolicyVerb]
    /// The names of the targets; `nil` for any.
    public var names: [PolicyName]?
    /// The users that run the program; `nil` for any.
    public var uids: [UInt32]?
    /// The groups of which the program must have at least one; `nil` for any.
    public var gids: [UInt32]?
    /// The origins that the session may represent, compared exactly; `nil` for any if the rule denies, and for
    /// ``PolicySubject/localOrigin`` if it allows.
    public var origins: [ExactText]?
    /// The users that may be logged in to the session; `nil` for any or none.
    public var users: [ExactText]?
    /// The systemd units of the program; `nil` for any or none.
    public var units: [ExactText]?
    /// The plugins whose own calls it matches; `nil` if it matches clients.
    public var plugins: [ExactText]?
    /// The path of the rule's file.
    public var file: String
    /// The line in ``file``, counted from 1.
    public var line: Int

    /// Creates a rule about all users and names. The caller sets the other properties afterwards.
    public init(_ effect: Effect, _ verbs: [PolicyVerb], file: String, line: Int) {
        self.effect = effect
        self.verbs = verbs
        self.file = file
        self.line = line
    }

    /// Whether the rule matches this action of this subject.
    func applies(_ verb: PolicyVerb, _ name: String, _ subject: PolicySubject) -> Bool {
        speaks(of: verb, name) && isAbout(subject)
    }

    /// Whether the rule matches this action, for any subject.
    func speaks(of verb: PolicyVerb, _ name: String) -> Bool { verbs.contains(verb) && names(verb, name) }

    private func names(_ verb: PolicyVerb, _ name: String) -> Bool {
        if effect == .allow, verb == .call, name.isExactly(Policy.administration) {
            return names?.contains { $0.text.isExactly(name) } ?? false
        }
        return names.map { $0.contains { $0.matches(name) } } ?? true
    }

    private func isAbout(_ subject: PolicySubject) -> Bool {
        if let plugin = subject.plugin { return Self.hold(plugins, plugin) ?? false }
        guard plugins == nil, uids?.contains(subject.uid) ?? true else { return false }
        guard gids.map({ !$0.allSatisfy { !subject.gids.contains($0) } }) ?? true else { return false }
        return Self.hold(origins, subject.origin) ?? true && Self.hold(users, subject.user) ?? true
            && Self.hold(units, subject.unit) ?? true
    }

    /// Whether one of the values equals this text; `nil` if there is no such condition.
    private static func hold(_ values: [ExactText]?, _ text: String?) -> Bool? {
        values.map { values in text.map { text in values.contains { $0.equals(text) } } ?? false }
    }

    /// A short description of the rule, for explanations of decisions: `deny call, 50-notes.toml:3`.
    public var summary: String {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        return "\(effect.rawValue) \(verbs.map(\.rawValue).joined(separator: ", ")), \(name):\(line)"
    }
}

/// The subject of a decision: a client or a plugin.
public struct PolicySubject: Sendable {
    /// The origin of a session that never declared one.
    public static let localOrigin = "local"

    /// The user that runs the program.
    public var uid: UInt32
    /// All groups of the program.
    public var gids: [UInt32]
    /// The origin that the session represents.
    public var origin: String
    /// The user that is logged in to the session; `nil` if none is.
    public var user: String?
    /// The systemd unit of the program; `nil` if it is not known.
    public var unit: String?
    /// The plugin that acts in its own name; `nil` for a client.
    public var plugin: String?

    /// Creates a client.
    public init(
        uid: UInt32, gids: [UInt32] = [], origin: String = PolicySubject.localOrigin, user: String? = nil,
        unit: String? = nil
    ) {
        self.uid = uid
        self.gids = gids
        self.origin = origin
        self.user = user
        self.unit = unit
    }

    /// Creates a plugin that acts in its own name.
    public init(plugin: String, daemonUID: UInt32) {
        self.init(uid: daemonUID)
        self.plugin = plugin
    }

    /// Whether it represents only its user; true for a plugin.
    public var isLocal: Bool { origin.isExactly(Self.localOrigin) }

    /// The namespace of the data stored for it; `nil` for a plugin, which has none.
    public var namespace: String? { plugin == nil ? "\(uid):\(origin)" : nil }

    /// The subject's name in messages.
    public var label: String {
        if let plugin { return "the plugin \(plugin)" }
        return isLocal ? "uid \(uid)" : "uid \(uid) (origin \(origin))"
    }
}
