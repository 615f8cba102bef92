// Lists the clients that a policy admits. Used to explain a refusal.

extension Policy {
    /// Returns the subjects that may do this: local sessions of the users that need no rule, the group that may use
    /// what is public, and subjects of rules.
    ///
    /// - Parameter showsRules: Whether rules are named; they are not for a caller without the right to administer the
    ///   daemon.
    func admitted(_ verb: PolicyVerb, _ name: String, isPublic: Bool, showsRules: Bool) -> [String] {
        let users = (daemonUID == 0 ? [0] : [0, daemonUID]).map { PolicySubject(uid: $0) }
        var admitted = users.filter { decide(verb, name, isPublic: isPublic, for: $0).isAllowed }.map(\.label)
        if isPublic, !denies(verb, name, PolicySubject(uid: Self.nobody, gids: publicGroup.map { [$0] } ?? [])) {
            admitted.append("group \(Self.groupName)")
        }
        guard showsRules else { return admitted }
        return admitted + rules(about: verb).filter { $0.effect == .allow && $0.speaks(of: verb, name) }.map(\.summary)
    }

    private func denies(_ verb: PolicyVerb, _ name: String, _ subject: PolicySubject) -> Bool {
        rules(about: verb).contains { $0.effect == .deny && $0.applies(verb, name, subject) }
    }

    /// A user id that the kernel assigns to no user.
    private static let nobody = UInt32.max
}
