import BridgeJSON

/// Whether an action is allowed, and why.
public struct PolicyDecision: Sendable, Equatable {
    /// The reason for a decision.
    public enum Reason: Sendable, Equatable {
        /// A rule of the policy.
        case rule(PolicyRule)
        /// Local sessions of root and of the daemon's own user may do everything that no rule denies.
        case trusted
        /// The name is public to the daemon's group.
        case isPublic
        /// Plugins may do everything that no rule denies.
        case plugin
        /// A session may use what is stored for it, regardless of rules.
        case own
        /// The name is public to the daemon's group, the caller is not a member, and no rule allows it.
        case notInGroup(daemonUID: UInt32)
        /// No rule allows it.
        case nothing(daemonUID: UInt32)
        /// No rule allows it to a session that represents an origin.
        case notLocal(daemonUID: UInt32)
        /// A rule allows it, but to local sessions only.
        case localOnly(PolicyRule)
    }

    /// Whether the action is allowed.
    public var isAllowed: Bool
    /// The reason for the decision.
    public var reason: Reason

    /// The rule or default that decided, for a person.
    public var rule: String {
        switch reason {
        case .rule(let rule): rule.summary
        case .trusted: "default: local sessions of root and the daemon's user may do everything that no rule denies"
        case .isPublic: "default: root, the daemon's user and the group \(Policy.groupName) may use what is public"
        case .plugin: "default: plugins may do everything that no rule denies"
        case .own: "default: a session may use its own namespace"
        case .notInGroup(let uid):
            "default: it is public for root, uid \(uid) and the group \(Policy.groupName); no rule allows it for others"
        case .nothing(let uid): "default: no rule allows it, and only root and uid \(uid) need no rule"
        case .notLocal(let uid):
            """
            default: no rule with the condition origin allows it, and only local sessions of root and uid \(uid) need \
            none
            """
        case .localOnly(let rule):
            "default: \(rule.summary) has no condition origin, so it allows only local sessions"
        }
    }

    /// The rule that decided, or that would have without an origin; `nil` if no rule is the reason.
    public var decisive: PolicyRule? {
        switch reason {
        case .rule(let rule), .localOnly(let rule): rule
        case .trusted, .isPublic, .plugin, .own, .notInGroup, .nothing, .notLocal: nil
        }
    }
}

/// The access policy: the only place that decides which actions a subject may perform. The router asks it before any
/// other work.
///
/// Everything is forbidden, with these exceptions. Local sessions of root and of the daemon's own user, and plugins,
/// may do everything. These users, and members of a group, may use what is marked as public. Rules may allow more. A
/// rule that denies overrides all of these. A session may always use its own stored data.
///
/// A session that represents an origin carries requests of a web page. So it does not have its user's rights: it is
/// never trusted, and of the rules that allow, only those with the condition `origin` apply to it.
public struct Policy: Sendable {
    /// The name of the group that may use what is public.
    public static let groupName = "trestle"

    /// The permission to administer the daemon: to see and end the work of others, to load plugins, to reload. An
    /// allowing rule grants it only if it contains this exact name; a prefix, or a rule without names, does not.
    public static let administration = "bridge.admin"

    /// The user id that the daemon runs under.
    public let daemonUID: UInt32
    /// The group that may use what is public; `nil` if it does not exist on this machine.
    public var publicGroup: UInt32?
    /// The rules, in the order of their files and lines. The order does not affect decisions.
    public var rules: [PolicyRule] {
        didSet { sort() }
    }
    private var rulesByVerb: [PolicyVerb: [PolicyRule]] = [:]
    /// Whether any rule has a condition on the unit: the unit is looked up only then.
    public private(set) var asksForUnit = false
    /// Whether any rule is about plugins' calls in their own name: such calls are checked only then.
    public private(set) var bindsPluginCalls = false

    /// - Parameters:
    ///   - daemonUID: The user id that the daemon runs under.
    ///   - publicGroup: The group that may use what is public.
    ///   - rules: The rules.
    public init(daemonUID: UInt32, publicGroup: UInt32? = nil, rules: [PolicyRule] = []) {
        self.daemonUID = daemonUID
        self.publicGroup = publicGroup
        self.rules = rules
        sort()
    }

    private mutating func sort() {
        rulesByVerb = [:]
        for rule in rules { for verb in Set(rule.verbs) { rulesByVerb[verb, default: []].append(rule) } }
        asksForUnit = rules.contains { $0.units != nil }
        bindsPluginCalls = self.rules(about: .call).contains { $0.plugins != nil }
    }

    /// Returns the rules about a verb.
    public func rules(about verb: PolicyVerb) -> [PolicyRule] { rulesByVerb[verb] ?? [] }

    /// Whether a client may do everything that no rule denies: a local session of root or of the daemon's own user.
    public func trusts(_ subject: PolicySubject) -> Bool {
        subject.plugin == nil && subject.isLocal && isTrusted(uid: subject.uid)
    }

    private func isTrusted(uid: UInt32) -> Bool { uid == 0 || uid == daemonUID }

    /// Decides whether a subject may do something.
    ///
    /// - Parameters:
    ///   - name: The target of the action, as the verb defines it; empty for a verb without names.
    ///   - isPublic: Whether the target is marked as public.
    public func decide(
        _ verb: PolicyVerb, _ name: String, isPublic: Bool = false, for subject: PolicySubject
    ) -> PolicyDecision {
        // Naming its own namespace is the same as naming none.
        if verb == .store, let own = subject.namespace, own.isExactly(name) {
            return PolicyDecision(isAllowed: true, reason: .own)
        }
        var allowing: PolicyRule?
        var silenced: PolicyRule?
        for rule in rules(about: verb) where rule.applies(verb, name, subject) {
            guard rule.effect == .allow else { return PolicyDecision(isAllowed: false, reason: .rule(rule)) }
            if rule.origins == nil, !subject.isLocal {
                silenced = silenced ?? rule
            } else {
                allowing = allowing ?? rule
            }
        }
        if let allowing { return PolicyDecision(isAllowed: true, reason: .rule(allowing)) }
        if verb == .close, let rule = ruleToAdminister(subject) {
            return PolicyDecision(isAllowed: true, reason: .rule(rule))
        }
        if subject.plugin != nil { return PolicyDecision(isAllowed: true, reason: .plugin) }
        if trusts(subject) { return PolicyDecision(isAllowed: true, reason: .trusted) }
        if isPublic, mayUsePublic(subject) { return PolicyDecision(isAllowed: true, reason: .isPublic) }
        return PolicyDecision(isAllowed: false, reason: whyNot(subject, silenced, isPublic: isPublic))
    }

    /// Returns the rule that allows the subject to administer the daemon, which includes closing others' sessions.
    private func ruleToAdminister(_ subject: PolicySubject) -> PolicyRule? {
        let decision = decide(.call, Self.administration, for: subject)
        if decision.isAllowed, case .rule(let rule) = decision.reason { return rule }
        return nil
    }

    private func mayUsePublic(_ subject: PolicySubject) -> Bool {
        isTrusted(uid: subject.uid) || publicGroup.map { subject.gids.contains($0) } ?? false
    }

    private func whyNot(
        _ subject: PolicySubject, _ silenced: PolicyRule?, isPublic: Bool
    ) -> PolicyDecision.Reason {
        if let silenced { return .localOnly(silenced) }
        if isPublic { return .notInGroup(daemonUID: daemonUID) }
        return subject.isLocal ? .nothing(daemonUID: daemonUID) : .notLocal(daemonUID: daemonUID)
    }
}
