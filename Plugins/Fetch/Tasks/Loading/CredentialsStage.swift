import HTTPRules
import TaskKit

/// Answers a server that requires a name and password, if the caller has requested that. The task `ui.credentials` asks
/// the user. The answers are not stored.
struct CredentialsStage: HopStage {
    /// The task that asks the user.
    static let task = "ui.credentials"
    /// The maximum number of questions for one request.
    static let maximumQuestions = 2

    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool {
        // A caller that sets the field itself authenticates itself.
        context.request.authenticates && !hop.headers.contains(named: "Authorization")
    }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        var response = try await next.load(hop, context)
        var given: AuthenticationChallenge.Credentials?
        var questions = 0
        // One more round than questions, because a server's nonce may expire in between.
        for _ in 0...Self.maximumQuestions {
            guard response.head.status == 401, let challenge = AuthenticationChallenge.strongest(response.head.headers)
            else { return response }
            if given == nil || !challenge.isStale {
                guard questions < Self.maximumQuestions else { return response }
                given = try await ask(hop, challenge, isRetry: questions > 0, context)
                questions += 1
            }
            guard let given, let hop = try answering(challenge, given, hop) else { return response }
            response.body.cancel()
            response = try await next.load(hop, context)
        }
        return response
    }

    private func answering(
        _ challenge: AuthenticationChallenge, _ given: AuthenticationChallenge.Credentials, _ hop: Hop
    ) throws(BridgeError) -> Hop? {
        let nonce = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        let value = challenge.answer(given, method: hop.method, url: hop.url, nonce: nonce)
        guard let value, let field = HeaderField(name: "Authorization", value: value) else { return nil }
        if let body = hop.body, !body.rewind() { throw .bodyUsed }
        var hop = hop
        hop.headers.append(field)
        return hop
    }

    /// Asks the user.
    ///
    /// - Returns: The credentials; `nil` if no plugin can ask the user, or the user declines.
    private func ask(
        _ hop: Hop, _ challenge: AuthenticationChallenge, isRetry: Bool, _ context: LoadContext
    ) async throws(BridgeError) -> AuthenticationChallenge.Credentials? {
        let question: JSON = [
            "host": .string(hop.url.host.text), "realm": .string(challenge.realm), "retry": .bool(isRetry),
        ]
        do throws(BridgeError) {
            let answer: JSON = try await context.call.call(Self.task, question)
            guard let user = answer["user"]?.stringValue, let password = answer["password"]?.stringValue else {
                return nil
            }
            return .init(user: user, password: password)
        } catch {
            if error.code == .callCancelled { throw error }
            context.call.log.debug("\(Self.task) was not answered: \(error.code)")
            return nil
        }
    }
}
