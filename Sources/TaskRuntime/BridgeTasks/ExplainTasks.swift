import BridgeJSON

// bridge.explain: the reason why a client may or may not do something.
extension TaskRuntime {
    var explainTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.explain", "Shows whether a caller is allowed to do something, and which rule decides.",
                Explain.self,
                isPublic: true
            ) {
                [unowned self] call, options throws(BridgeError) in try explain(call, options)
            }
        ]
    }

    private struct Explain: Decodable {
        /// The name in question: of a task for the verb `call`, else of an object of the verb.
        var task: String?
        var name: String?
        var verb: String?
        /// The subject: the session with this number, or a client with these properties; the caller if all are missing.
        var session: UInt64?
        var uid: UInt32?
        var groups: [UInt32]?
        var origin: String?
        var user: String?
        var unit: String?
        var plugin: String?

        var isAboutSomebody: Bool {
            session != nil || uid != nil || groups != nil || origin != nil || user != nil || unit != nil
                || plugin != nil
        }
    }

    private func explain(_ call: Call, _ question: Explain) throws(BridgeError) -> JSON {
        let subject = try subject(of: question, call)
        let verb = try verb(of: question)
        guard let name = question.task ?? question.name ?? (verb == .close ? "" : nil) else {
            let member = verb == .call ? "task" : "name"
            throw BridgeError(
                JSONMismatch(path: "$.\(member)", expected: "the name of a task or event", got: "nothing"))
        }
        let task = verb == .call ? tasks.find(name).flatMap { $0.isInternal ? nil : $0 } : nil
        let isPublic = task?.description.isPublic ?? (verb == .subscribe && rights.isPublicEvent(name))
        // A task that does not exist yet may become a client's task, whose permission is its name.
        let permission = task?.description.permission ?? name
        let decision = rights.policy.decide(verb, permission, isPublic: isPublic, for: subject)
        var answer: JSONObject = [
            "allowed": .bool(decision.isAllowed), "verb": .string(verb.rawValue), "name": .string(name),
            "public": .bool(isPublic), "rule": .string(decision.rule), "who": .string(subject.label),
        ]
        if verb == .call {
            answer["permission"] = .string(permission)
            answer["known"] = .bool(task != nil)
        }
        let mayAdminister = call.session.map { rights.decide(.call, Policy.administration, by: $0).isAllowed } ?? true
        answer["admitted"] = .array(
            rights.policy.admitted(verb, permission, isPublic: isPublic, showsRules: mayAdminister).map(JSON.string))
        if let rule = decision.decisive {
            answer["file"] = .string(rule.file)
            answer["line"] = .number(JSONNumber(rule.line))
        }
        return .object(answer)
    }

    private func verb(of question: Explain) throws(BridgeError) -> PolicyVerb {
        guard let text = question.verb else { return .call }
        if let verb = PolicyVerb(rawValue: text) { return verb }
        let known = PolicyVerb.allCases.map(\.rawValue).joined(separator: ", ")
        throw BridgeError(JSONMismatch(path: "$.verb", expected: "one of \(known)", got: "\"\(text.prefix(64))\""))
    }

    /// Returns the subject of the question: a plugin; a local client of the user with this `uid`; or else the session
    /// that the question names, or the calling one. The other properties in the question replace those of the subject.
    private func subject(of question: Explain, _ call: Call) throws(BridgeError) -> PolicySubject {
        if question.isAboutSomebody, let asker = call.session {
            try rights.check(.call, Policy.administration, by: asker, to: "ask what others may do")
        }
        if let plugin = question.plugin { return PolicySubject(plugin: plugin, daemonUID: rights.policy.daemonUID) }
        var subject = PolicySubject(uid: rights.policy.daemonUID)
        if let uid = question.uid {
            subject.uid = uid
        } else if let session = try components.sessions.target(question.session) ?? call.session {
            subject = rights.subject(session)
        }
        subject.gids = question.groups ?? subject.gids
        subject.origin = question.origin ?? subject.origin
        subject.user = question.user ?? subject.user
        subject.unit = question.unit ?? subject.unit
        return subject
    }
}
