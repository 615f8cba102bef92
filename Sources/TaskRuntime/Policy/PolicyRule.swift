public import BridgeJSON
public import WebOrigins

/// What may be done, or not.
public enum PolicyVerb: String, Sendable, CaseIterable {
    /// Calling a task. Its names are permissions: what tasks say that their callers need.
    case call
    /// Providing a task to others; by its name.
    case register
    /// Taking calls of other users for a task that one provides; by its name.
    case serve
    /// Sending an event; by its name.
    case publish
    /// Replacing, or forgetting, a retained event of another user or origin; by its name.
    case replace
    /// Getting events; by their names.
    case subscribe
    /// Naming the session that a call is to go to; by the task's name.
    case address
    /// Having another session closed. No names.
    case close
    /// Speaking for an origin; by its text.
    case origin
    /// Using what is stored for another user or origin; by the namespace, a user id, a colon and an origin.
    case store
    /// Having a request sent to an origin of the web; by the origin, such as `https://api.example`.
    case reach

    /// Those that options can ask for: the others are asked about by what the daemon does itself.
    static let ofOptions: [PolicyVerb] = [.store, .reach]
}

/// A name, or all names with a beginning: `*` at the end says so. In a rule about `reach`, an origin, or all origins
/// below a domain.
public struct PolicyName: Sendable, Hashable {
    /// As it is written; of origins the canonical text.
    public let text: String
    /// The origins that it stands for; nil: it is a name of another verb than `reach`.
    public let origins: OriginPattern?

    /// Whether the two have the same bytes.
    public static func == (left: PolicyName, right: PolicyName) -> Bool { left.text.isExactly(right.text) }

    /// Adds the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(ExactText(text)) }

    /// Nil where it is empty, or has a `*` anywhere but at its end.
    public init?(_ text: String) {
        guard !text.isEmpty, !text.dropLast().contains("*") else { return nil }
        self.text = text
        origins = nil
    }

    /// A name in a rule about `reach`.
    public init(_ origins: OriginPattern) {
        text = origins.text
        self.origins = origins
    }

    private var isBeginning: Bool { text.utf8.last == UInt8(ascii: "*") }

    func matches(_ name: String) -> Bool {
        if let origins { return (try? WebOrigin(name)).map { origins.matches($0) } ?? false }
        // By bytes, as all names: Swift holds two spellings of an accented letter to be equal, who gets the name need
        // not.
        return isBeginning ? name.utf8.starts(with: text.utf8.dropLast()) : name.isExactly(text)
    }

    /// Whether everything that the other one matches is matched by this one.
    public func covers(_ other: PolicyName) -> Bool {
        if let origins, let others = other.origins { return origins.covers(others) }
        guard isBeginning else { return self == other }
        return other.text.utf8.starts(with: text.utf8.dropLast())
    }
}

/// One rule: who may do what, or may not. What is left out is no condition.
public struct PolicyRule: Sendable, Hashable {
    /// What a rule does to those whom it is about.
    public enum Effect: String, Sendable {
        /// They may, unless another rule says that they may not.
        case allow
        /// They may not, whatever other rules say.
        case deny
    }

    /// Whether it allows or denies.
    public var effect: Effect
    /// What.
    public var verbs: [PolicyVerb]
    /// Of which names; nil: of any.
    public var names: [PolicyName]?
    /// Users that run the program at the other end; nil: any.
    public var uids: [UInt32]?
    /// Groups of which it is in one at least; nil: whatever groups it is in.
    public var gids: [UInt32]?
    /// What its session speaks for, exactly one of these; nil: anything where the rule denies,
    /// ``PolicySubject/localOrigin`` where it allows.
    public var origins: [ExactText]?
    /// Who is logged in to its session; nil: any user or none.
    public var users: [ExactText]?
    /// The systemd unit that the program runs in; nil: any or none.
    public var units: [ExactText]?
    /// The plugins whose own calls it is about; nil: it is about clients.
    public var plugins: [ExactText]?
    /// Where it stands: a file's path and a line.
    public var file: String
    /// See ``file``; counted from 1.
    public var line: Int

    /// A rule about all users and everything; the rest is set afterwards.
    public init(_ effect: Effect, _ verbs: [PolicyVerb], file: String, line: Int) {
        self.effect = effect
        self.verbs = verbs
        self.file = file
        self.line = line
    }

    /// Whether it says anything about this.
    func applies(_ verb: PolicyVerb, _ name: String, _ subject: PolicySubject) -> Bool {
        speaks(of: verb, name) && isAbout(subject)
    }

    /// Whether it says anything about this, no matter who does it.
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

    /// Whether one of the values is this text; nil: there is no such condition.
    private static func hold(_ values: [ExactText]?, _ text: String?) -> Bool? {
        values.map { values in text.map { text in values.contains { $0.equals(text) } } ?? false }
    }

    /// The rule in short, for who is denied something and for who asks why: `deny call, 50-notes.toml:3`.
    public var summary: String {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        return "\(effect.rawValue) \(verbs.map(\.rawValue).joined(separator: ", ")), \(name):\(line)"
    }
}

/// Whom a decision is about.
public struct PolicySubject: Sendable {
    /// What a session speaks for that never named anything else.
    public static let localOrigin = "local"

    /// The user that runs the program.
    public var uid: UInt32
    /// All its groups.
    public var gids: [UInt32]
    /// What the session speaks for.
    public var origin: String
    /// Who is logged in to it.
    public var user: String?
    /// The systemd unit that the program runs in, where that is known.
    public var unit: String?
    /// The plugin that acts in its own name; nil: it is a client.
    public var plugin: String?

    /// A client.
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

    /// A plugin that acts in its own name.
    public init(plugin: String, daemonUID: UInt32) {
        self.init(uid: daemonUID)
        self.plugin = plugin
    }

    /// Whether it speaks for nothing but its user; a plugin does.
    public var isLocal: Bool { origin.isExactly(Self.localOrigin) }

    /// What is stored for it; nil: a plugin has no namespace of its own.
    public var namespace: String? { plugin == nil ? "\(uid):\(origin)" : nil }

    /// Who that is, for sentences.
    public var label: String {
        if let plugin { return "the plugin \(plugin)" }
        return isLocal ? "uid \(uid)" : "uid \(uid) (origin \(origin))"
    }
}
