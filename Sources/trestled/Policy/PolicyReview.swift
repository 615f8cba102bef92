// The detection of rules that probably do not work as intended.
import BridgeJSON
import TaskRuntime

/// Compares rules with each other.
struct PolicyReview {
    private let rules: [PolicyRule]

    init(_ rules: [PolicyRule]) { self.rules = rules }

    /// The warnings, each with the location of the rule.
    var warnings: [ConfigurationProblem] {
        rules.flatMap { rule in
            [unreachable(rule), shadowed(rule), unnamed(rule), localOnly(rule)].compactMap { reason in
                reason.map { ConfigurationProblem(source: "\(rule.file):\(rule.line)", reason: $0) }
            }
        }
    }

    /// Checks for a condition without values, which no caller fulfils.
    private func unreachable(_ rule: PolicyRule) -> String? {
        let isEmpty =
            rule.uids?.isEmpty == true || rule.gids?.isEmpty == true || rule.origins?.isEmpty == true
            || rule.users?.isEmpty == true || rule.units?.isEmpty == true || rule.plugins?.isEmpty == true
            || rule.names?.isEmpty == true
        return isEmpty ? "the rule can never match: no caller fulfils one of its conditions" : nil
    }

    /// Checks for a rule that allows only what another rule denies to at least the same callers.
    private func shadowed(_ rule: PolicyRule) -> String? {
        guard rule.effect == .allow else { return nil }
        let denials = rule.verbs.map { verb in rules.first { $0.effect == .deny && Self.covers($0, rule, verb) } }
        guard denials.allSatisfy({ $0 != nil }), let denial = denials.first ?? nil else { return nil }
        return "the rule can never match: \(denial.file):\(denial.line) denies all that it allows"
    }

    /// Checks for an origin that only root and the daemon's user, which need no rule, may represent.
    private func unnamed(_ rule: PolicyRule) -> String? {
        guard rule.effect == .allow, let origins = rule.origins else { return nil }
        let known = rules.filter { $0.effect == .allow && $0.verbs.contains(.origin) }.flatMap {
            $0.names ?? [Self.any]
        }
        let strange = origins.filter { origin in
            !origin.equals(Session.localOrigin)
                && !known.contains { name in PolicyName(origin.text).map { name.covers($0) } ?? false }
        }
        guard !strange.isEmpty else { return nil }
        return """
            only root and the daemon's user may represent \(strange.map(\.text).joined(separator: ", ")): add a rule \
            allow = "origin" with these names for other users
            """
    }

    /// Checks for a rule without an origin, which applies only to local sessions. Warns if its users may represent an
    /// origin and no rule allows a similar action to that origin.
    private func localOnly(_ rule: PolicyRule) -> String? {
        let verbs = Set(rule.verbs).subtracting([.origin])
        guard rule.effect == .allow, rule.origins == nil, rule.plugins == nil, !verbs.isEmpty else { return nil }
        let strange = rules.filter { $0.allows(.origin) && Self.haveUsersInCommon($0, rule) }
            .flatMap { $0.names ?? [Self.any] }.filter { !hasRule(of: verbs, forOrigin: $0) }
        guard !strange.isEmpty else { return nil }
        let names = strange.map(\.text).joined(separator: ", ")
        return """
            the rule allows only local sessions; its users may also represent \(names), and no rule with the \
            condition origin allows the same to these origins. If local sessions are meant, write origin = "local"
            """
    }

    private func hasRule(of verbs: Set<PolicyVerb>, forOrigin name: PolicyName) -> Bool {
        rules.contains { rule in
            rule.effect == .allow && !verbs.isDisjoint(with: rule.verbs)
                && (rule.origins ?? []).contains { origin in PolicyName(origin.text).map { name.covers($0) } ?? false }
        }
    }

    /// Returns whether both rules may match the same user.
    private static func haveUsersInCommon(_ one: PolicyRule, _ other: PolicyRule) -> Bool {
        intersect(one.uids, other.uids) && intersect(one.gids, other.gids)
    }

    private static func intersect<T: Hashable>(_ one: [T]?, _ other: [T]?) -> Bool {
        guard let one, let other else { return true }
        return !Set(one).isDisjoint(with: other)
    }

    /// Returns whether one rule covers everything that another rule states about a verb.
    private static func covers(_ outer: PolicyRule, _ inner: PolicyRule, _ verb: PolicyVerb) -> Bool {
        guard outer.verbs.contains(verb), (outer.plugins == nil) == (inner.plugins == nil) else { return false }
        if let names = outer.names {
            guard let others = inner.names, others.allSatisfy({ other in names.contains { $0.covers(other) } }) else {
                return false
            }
        }
        return covers(outer.uids, inner.uids) && covers(outer.gids, inner.gids) && covers(outer.origins, inner.origins)
            && covers(outer.users, inner.users) && covers(outer.units, inner.units)
            && covers(outer.plugins, inner.plugins)
    }

    private static func covers<T: Hashable>(_ outer: [T]?, _ inner: [T]?) -> Bool {
        guard let outer else { return true }
        return inner.map { Set($0).isSubset(of: outer) } ?? false
    }

    // `!`: it is a valid name.
    private static let any = PolicyName("*")!

    /// Returns warnings for rules that name a task instead of its permission.
    ///
    /// - Parameter permissions: The tasks with the permissions that they require.
    func misnamed(_ permissions: [(task: String, permission: String)]) -> [ConfigurationProblem] {
        let known = Set(permissions.map { ExactText($0.permission) })
        return rules.filter { $0.verbs.contains(.call) }.flatMap { rule in
            (rule.names ?? []).compactMap { name in
                guard !known.contains(ExactText(name.text)),
                    let task = permissions.first(where: { $0.task.isExactly(name.text) })
                else {
                    return nil
                }
                return ConfigurationProblem(
                    source: "\(rule.file):\(rule.line)",
                    reason: """
                        the rule is not about the task \(task.task), whose permission is \(task.permission): \
                        rules about calls name permissions
                        """)
            }
        }
    }

    /// Returns warnings for rules with a prefix of the names of administration tasks. Only the exact name of the
    /// administration permission covers these tasks.
    ///
    /// - Parameter permissions: The tasks with the permissions that they require.
    func administering(_ permissions: [(task: String, permission: String)]) -> [ConfigurationProblem] {
        let tasks = permissions.filter { $0.permission.isExactly(Policy.administration) }.map(\.task)
        return rules.filter { $0.verbs.contains(.call) }.flatMap { rule in
            (rule.names ?? []).compactMap { name in
                let meant = tasks.filter { task in PolicyName(task).map { name != $0 && name.covers($0) } ?? false }
                guard name != Self.any, !meant.isEmpty, rule.effect == .allow || !name.covers(Self.administration)
                else {
                    return nil
                }
                return ConfigurationProblem(
                    source: "\(rule.file):\(rule.line)",
                    reason: """
                        \(name.text) does not cover \(meant.joined(separator: ", ")), whose permission is \
                        \(Policy.administration): a rule that allows these must contain that name in full
                        """)
            }
        }
    }

    // `!`: it is a valid name.
    private static let administration = PolicyName(Policy.administration)!

    /// Returns warnings for rules that deny tasks to all users, including root.
    ///
    /// - Parameter permissions: The tasks with the permissions that they require.
    func unreachable(_ permissions: [(task: String, permission: String)]) -> [ConfigurationProblem] {
        let denials = rules.filter {
            $0.effect == .deny && $0.verbs.contains(.call) && $0.uids == nil && $0.gids == nil && $0.origins == nil
                && $0.users == nil && $0.units == nil && $0.plugins == nil
        }
        return denials.compactMap { rule in
            let names = rule.names ?? [Self.any]
            let tasks = permissions.filter { item in
                PolicyName(item.permission).map { wanted in names.contains { $0.covers(wanted) } } ?? false
            }
            guard !tasks.isEmpty else { return nil }
            return ConfigurationProblem(
                source: "\(rule.file):\(rule.line)",
                reason:
                    "no user can call \(tasks.map(\.task).joined(separator: ", ")), not even root: the rule has no "
                    + "condition"
            )
        }
    }
}

extension PolicyRule {
    fileprivate func allows(_ verb: PolicyVerb) -> Bool { effect == .allow && verbs.contains(verb) }
}
