// What rules say that can never come to anything.
import TaskRuntime

/// Holds rules against each other.
struct PolicyReview {
    private let rules: [PolicyRule]

    init(_ rules: [PolicyRule]) { self.rules = rules }

    /// Each with the place of the rule.
    var warnings: [ConfigurationProblem] {
        rules.flatMap { rule in
            [unreachable(rule), shadowed(rule), unnamed(rule)].compactMap { reason in
                reason.map { ConfigurationProblem(source: "\(rule.file):\(rule.line)", reason: $0) }
            }
        }
    }

    /// A condition without any value holds for nobody.
    private func unreachable(_ rule: PolicyRule) -> String? {
        let isEmpty =
            rule.uids?.isEmpty == true || rule.gids?.isEmpty == true || rule.origins?.isEmpty == true
            || rule.users?.isEmpty == true || rule.units?.isEmpty == true || rule.plugins?.isEmpty == true
            || rule.names?.isEmpty == true
        return isEmpty ? "the rule can never match: one of its conditions holds for nobody" : nil
    }

    /// A rule that allows what another one denies to at least the same.
    private func shadowed(_ rule: PolicyRule) -> String? {
        guard rule.effect == .allow else { return nil }
        let denials = rule.verbs.map { verb in rules.first { $0.effect == .deny && Self.covers($0, rule, verb) } }
        guard denials.allSatisfy({ $0 != nil }), let denial = denials.first ?? nil else { return nil }
        return "the rule can never match: \(denial.file):\(denial.line) denies all that it allows"
    }

    /// An origin that nobody may speak for but who needs no rule.
    private func unnamed(_ rule: PolicyRule) -> String? {
        guard rule.effect == .allow, let origins = rule.origins else { return nil }
        let known = rules.filter { $0.effect == .allow && $0.verbs.contains(.origin) }.flatMap {
            $0.names ?? [Self.any]
        }
        let strange = origins.filter { origin in
            origin != Session.localOrigin
                && !known.contains { name in PolicyName(origin).map { name.covers($0) } ?? false }
        }
        guard !strange.isEmpty else { return nil }
        return """
            nobody but root and the daemon's user may speak for \(strange.joined(separator: ", ")): a rule \
            allow = "origin" with these names says who else may
            """
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
        let known = Set(permissions.map(\.permission))
        return rules.filter { $0.verbs.contains(.call) }.flatMap { rule in
            (rule.names ?? []).compactMap { name in
                guard !known.contains(name.text), let task = permissions.first(where: { $0.task == name.text }) else {
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

    /// Tasks that a rule denies to everybody, root too.
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
                    "nobody can call \(tasks.map(\.task).joined(separator: ", ")), not even root: the rule has no condition"
            )
        }
    }
}
