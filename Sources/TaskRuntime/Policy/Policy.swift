import BridgeJSON

/// Whether something may be done, and why.
public struct PolicyDecision: Sendable, Equatable {
    /// What decided.
    public enum Reason: Sendable, Equatable {
        /// A rule of the policy.
        case rule(PolicyRule)
        /// Local sessions of root and of the daemon's own user may do everything that no rule denies.
        case trusted
        /// It is public to the group that the daemon is there for.
        case isPublic
        /// Plugins may do everything that no rule denies.
        case plugin
        /// What is stored for a session is that session's, whatever rules say.
        case own
        /// It is public to that group, to which the caller does not belong, and no rule allows it.
        case notInGroup(daemonUID: UInt32)
        /// No rule allows it.
        case nothing(daemonUID: UInt32)
        /// No rule allows it to a session that speaks for an origin.
        case notLocal(daemonUID: UInt32)
        /// A rule allows it, but to local sessions only.
        case localOnly(PolicyRule)
    }

    /// Whether it may be done.
    public var isAllowed: Bool
    /// What decided that.
    public var reason: Reason

    /// What decided, for a person.
    public var rule: String {
        switch reason {
        case .rule(let rule): rule.summary
        case .trusted: "default: local sessions of root and the daemon's user may do everything that no rule denies"
        case .isPublic: "default: root, the daemon's user and the group \(Policy.groupName) may use what is public"
        case .plugin: "default: plugins may do everything that no rule denies"
        case .own: "default: a session's own namespace is its own"
        case .notInGroup(let uid):
            "default: it is public to root, uid \(uid) and the group \(Policy.groupName), and no rule allows it to others"
        case .nothing(let uid): "default: no rule allows it, and only root and uid \(uid) need none"
        case .notLocal(let uid):
            """
            default: no rule with the condition origin allows it, and only local sessions of root and uid \(uid) need \
            none
            """
        case .localOnly(let rule):
            "default: \(rule.summary) has no condition origin, so that it allows to local sessions only"
        }
    }

    /// The rule that decided, or that would have without an origin; nil: no rule is the reason.
    public var decisive: PolicyRule? {
        switch reason {
        case .rule(let rule), .localOnly(let rule): rule
        case .trusted, .isPublic, .plugin, .own, .notInGroup, .nothing, .notLocal: nil
        }
    }
}

/// Who may do what. The one place where that is decided; the router asks it before anything else happens.
///
/// No one may do anything, except: local sessions of root and of the daemon's own user, and plugins, everything; these
/// users and members of a group what is marked as public; and anyone whom a rule allows it. A rule that denies beats
/// all of these.
///
/// A session that speaks for an origin carries what a page of elsewhere says. So its user's rights are not the
/// session's: it is never trusted, and of the rules that allow, only those with the condition `origin` are about it.
public struct Policy: Sendable {
    /// The name of the group that may use what is public.
    public static let groupName = "trestle"

    /// The permission to administer the daemon: to see and end what others do, to load plugins, to reload. A rule that
    /// allows grants it by this name alone, not by a beginning of it, and not by naming nothing.
    public static let administration = "bridge.admin"

    /// The user id that the daemon runs under.
    public let daemonUID: UInt32
    /// The group that may use what is public; nil: there is none on this machine.
    public var publicGroup: UInt32?
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
    ///   - publicGroup: the group that may use what is public.
    ///   - rules: what else holds.
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

    /// The rules about a verb.
    public func rules(about verb: PolicyVerb) -> [PolicyRule] { rulesByVerb[verb] ?? [] }

    /// Whether a client may do everything that no rule denies: a local session of root or of the daemon's own user.
    public func trusts(_ subject: PolicySubject) -> Bool {
        subject.plugin == nil && subject.isLocal && isTrusted(uid: subject.uid)
    }

    private func isTrusted(uid: UInt32) -> Bool { uid == 0 || uid == daemonUID }

    /// May the subject do this?
    ///
    /// - Parameters:
    ///   - name: what it is to be done to, as the verb says; empty where that has no names.
    ///   - isPublic: whether it is marked as public.
    public func decide(
        _ verb: PolicyVerb, _ name: String, isPublic: Bool = false, for subject: PolicySubject
    ) -> PolicyDecision {
        // To name it is to ask for what one gets without naming anything.
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

    /// The rule by which the subject may administer the daemon, which includes closing others' sessions.
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
