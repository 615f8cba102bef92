// What rules say that can never come to anything.
import BridgeJSON
import TaskRuntime

/// Holds rules against each other.
struct PolicyReview {
    private let rules: [PolicyRule]

    init(_ rules: [PolicyRule]) { self.rules = rules }

    /// Each with the location of the rule.
    var warnings: [ConfigurationProblem] {
        rules.flatMap { rule in
            [unreachable(rule), shadowed(rule), unnamed(rule), localOnly(rule)].compactMap { reason in
                reason.map { ConfigurationProblem(source: "\(rule.file):\(rule.line)", reason: $0) }
            }
        }
    }

    /// A condition without any value holds for no one.
    private func unreachable(_ rule: PolicyRule) -> String? {
        let isEmpty =
            rule.uids?.isEmpty == true || rule.gids?.isEmpty == true || rule.origins?.isEmpty == true
            || rule.users?.isEmpty == true || rule.units?.isEmpty == true || rule.plugins?.isEmpty == true
            || rule.names?.isEmpty == true
        return isEmpty ? "the rule can never match: no caller fulfils one of its conditions" : nil
    }

    /// A rule that allows what another one denies to at least the same.
    private func shadowed(_ rule: PolicyRule) -> String? {
        guard rule.effect == .allow else { return nil }
        let denials = rule.verbs.map { verb in rules.first { $0.effect == .deny && Self.covers($0, rule, verb) } }
        guard denials.allSatisfy({ $0 != nil }), let denial = denials.first ?? nil else { return nil }
        return "the rule can never match: \(denial.file):\(denial.line) denies all that it allows"
    }

    /// An origin that only users who need no rule may speak for.
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
            nobody but root and the daemon's user may speak for \(strange.map(\.text).joined(separator: ", ")): a rule \
            allow = "origin" with these names says who else may
            """
    }

    /// A rule without an origin allows to local sessions only. That is said where its users may speak for an origin,
    /// and no rule allows anything of the kind to that.
    private func localOnly(_ rule: PolicyRule) -> String? {
        let verbs = Set(rule.verbs).subtracting([.origin])
        guard rule.effect == .allow, rule.origins == nil, rule.plugins == nil, !verbs.isEmpty else { return nil }
        let strange = rules.filter { $0.allows(.origin) && Self.haveUsersInCommon($0, rule) }
            .flatMap { $0.names ?? [Self.any] }.filter { !hasRule(of: verbs, forOrigin: $0) }
        guard !strange.isEmpty else { return nil }
        let names = strange.map(\.text).joined(separator: ", ")
        return """
            the rule allows to local sessions only; its users may also speak for \(names), and no rule with the \
            condition origin allows the like to those. Where local sessions are meant, origin = "local" says so
            """
    }

    private func hasRule(of verbs: Set<PolicyVerb>, forOrigin name: PolicyName) -> Bool {
        rules.contains { rule in
            rule.effect == .allow && !verbs.isDisjoint(with: rule.verbs)
                && (rule.origins ?? []).contains { origin in PolicyName(origin.text).map { name.covers($0) } ?? false }
        }
    }

    /// Whether there may be a user whom both rules are about.
    private static func haveUsersInCommon(_ one: PolicyRule, _ other: PolicyRule) -> Bool {
        intersect(one.uids, other.uids) && intersect(one.gids, other.gids)
    }

    private static func intersect<T: Hashable>(_ one: [T]?, _ other: [T]?) -> Bool {
        guard let one, let other else { return true }
        return !Set(one).isDisjoint(with: other)
    }

    /// Whether one rule speaks of everything that another one says of a verb.
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

    // `!`: it is a name.
    private static let any = PolicyName("*")!

    /// Rules that name a task where its permission is what counts.
    ///
    /// - Parameter permissions: what the tasks take, by their names.
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

    /// Rules with the beginning of names of tasks that administer the daemon, which one name alone grants.
    ///
    /// - Parameter permissions: what the tasks take, by their names.
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
                        \(Policy.administration): a rule that allows these has that name in full
                        """)
            }
        }
    }

    // `!`: it is a name.
    private static let administration = PolicyName(Policy.administration)!

    /// Tasks that a rule denies to all users, root too.
    ///
    /// - Parameter permissions: what the tasks take, by their names.
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
                    "nobody can call \(tasks.map(\.task).joined(separator: ", ")), not even root: the rule has no "
                    + "condition"
            )
        }
    }
}

extension PolicyRule {
    fileprivate func allows(_ verb: PolicyVerb) -> Bool { effect == .allow && verbs.contains(verb) }
}
