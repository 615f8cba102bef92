internal import BridgeJSON
internal import WebKitViews
internal import WebProfiles

extension Page {
    /// Whether the profile gives the document's origin a permission.
    func isAllowed(_ kind: PermissionKind) -> Bool {
        guard let permissions = container?.settings.permissions else { return false }
        let origin = documentOrigin
        let isAllowed = origin.map { permissions[kind]?.contains($0) ?? false } ?? false
        publish(
            "web.permission",
            [
                "kind": .string(kind.rawValue), "origin": .string(origin?.text ?? "null"), "allowed": .bool(isAllowed),
            ])
        return isAllowed
    }

    /// Handles a server's request for a name and a password. The provider of `ui.credentials` answers it.
    func authenticate(_ question: consuming AuthenticationQuestion) {
        guard let ask = container?.onCredentials else { return }
        let options: JSON = [
            "realm": .string(question.realm), "host": .string(question.host),
            "port": .number(JSONNumber(Int64(question.port))), "retry": .bool(question.isRetry),
            "proxy": .bool(question.isForProxy), "view": .number(JSONNumber(Int64(number))),
        ]
        credentialNumber += 1
        let number = credentialNumber
        credentials = consume question
        // The time that a person needs does not count.
        loadTimer.stop()
        Task { [weak self] in
            let answer = await ask(options)
            self?.answerCredentials(number, answer)
        }
    }

    private func answerCredentials(_ number: Int, _ answer: JSON?) {
        guard number == credentialNumber, let question = credentials.take() else { return }
        guard let user = answer?["user"]?.stringValue, let password = answer?["password"]?.stringValue else { return }
        question.answer(user: user, password: password)
    }
}
