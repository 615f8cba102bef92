/// Whether something may be done, and why.
public struct PolicyDecision: Sendable, Equatable {
    /// What decided.
    public enum Reason: Sendable, Equatable {
        /// A rule of the policy.
        case rule(PolicyRule)
        /// Root and the daemon's own user may do everything that no rule denies.
        case trusted
        /// It is open to the group that the daemon is there for.
        case open
        /// Plugins may do everything that no rule denies.
        case plugin
        /// What is stored for a session is that session's, whatever rules say.
        case own
        /// No rule allows it.
        case nothing(daemonUID: UInt32)
    }

    /// Whether it may be done.
    public var isAllowed: Bool
    /// What decided that.
    public var reason: Reason

    /// What decided, for a person.
    public var rule: String {
        switch reason {
        case .rule(let rule): rule.summary
        case .trusted: "default: root and the daemon's user may do everything that no rule denies"
        case .open: "default: the group \(Policy.groupName) may use what is open"
        case .plugin: "default: plugins may do everything that no rule denies"
        case .own: "default: a session's own namespace is its own"
        case .nothing(let uid): "default: no rule allows it, and only root and uid \(uid) need none"
        }
    }
}

/// Who may do what. The one place where that is decided; the router asks it before anything else happens.
///
/// Nobody may do anything, except: root, the daemon's own user and plugins everything; members of a group what is marked as
/// open; and whoever a rule allows it. A rule that denies beats all of these.
public struct Policy: Sendable {
    /// The name of the group that may use what is open.
    public static let groupName = "trestle"

    /// The user id that the daemon runs under.
    public let daemonUID: UInt32
    /// The group that may use what is open; nil: there is none on this machine.
    public var openGroup: UInt32?
    /// The rules, in the order of their files and lines; the order decides nothing.
    public var rules: [PolicyRule] {
        didSet { sort() }
    }
    private var rulesByVerb: [PolicyVerb: [PolicyRule]] = [:]
    /// Whether any rule asks for the unit: it is looked up for no other sake.
    public private(set) var asksForUnit = false
    /// Whether any rule is about calls that plugins make in their own name: only then they are asked about.
    public private(set) var bindsPluginCalls = false

    /// - Parameters:
    ///   - daemonUID: the user id that the daemon runs under.
    ///   - openGroup: the group that may use what is open.
    ///   - rules: what else holds.
    public init(daemonUID: UInt32, openGroup: UInt32? = nil, rules: [PolicyRule] = []) {
        self.daemonUID = daemonUID
        self.openGroup = openGroup
        self.rules = rules
        sort()
    }

    private mutating func sort() {
        rulesByVerb = [:]
        for rule in rules { for verb in Set(rule.verbs) { rulesByVerb[verb, default: []].append(rule) } }
        asksForUnit = rules.contains { $0.units != nil }
        bindsPluginCalls = self.rules(about: .call).contains { $0.plugins != nil }
    }

    /// The rules about a verb.
    public func rules(about verb: PolicyVerb) -> [PolicyRule] { rulesByVerb[verb] ?? [] }

    /// Whether a peer is root or the daemon's own user.
    public func trusts(_ peer: PeerIdentity) -> Bool { trusts(uid: peer.uid) }

    /// Whether a user is root or the daemon's own.
    public func trusts(uid: UInt32) -> Bool { uid == 0 || uid == daemonUID }

    /// May the subject do this?
    ///
    /// - Parameters:
    ///   - name: what it is to be done to, as the verb says; empty where that has no names.
    ///   - isOpen: whether it is marked as open.
    public func decide(
        _ verb: PolicyVerb, _ name: String, isOpen: Bool = false, for subject: PolicySubject
    ) -> PolicyDecision {
        // To name it is to ask for what one gets without naming anything.
        if verb == .store, let own = subject.namespace, own.utf8.elementsEqual(name.utf8) {
            return PolicyDecision(isAllowed: true, reason: .own)
        }
        var allowing: PolicyRule?
        for rule in rules(about: verb) where rule.applies(verb, name, subject) {
            guard rule.effect == .allow else { return PolicyDecision(isAllowed: false, reason: .rule(rule)) }
            allowing = allowing ?? rule
        }
        if let allowing { return PolicyDecision(isAllowed: true, reason: .rule(allowing)) }
        if subject.plugin != nil { return PolicyDecision(isAllowed: true, reason: .plugin) }
        if trusts(uid: subject.uid) { return PolicyDecision(isAllowed: true, reason: .trusted) }
        if isOpen, let openGroup, subject.gids.contains(openGroup) {
            return PolicyDecision(isAllowed: true, reason: .open)
        }
        return PolicyDecision(isAllowed: false, reason: .nothing(daemonUID: daemonUID))
    }
}
