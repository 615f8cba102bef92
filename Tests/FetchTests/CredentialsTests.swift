import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

@Suite("HTTP credentials", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct CredentialsTests {
    private static let refusal = Script.response(
        "", status: "401 Unauthorized",
        headers: "WWW-Authenticate: Basic realm=\"here\"\r\nWWW-Authenticate: Digest realm=\"there\", nonce=\"n\"\r\n")

    /// Fetches once, with these answers to the questions for credentials. Returns the questions, the requests that the
    /// server received, and the result.
    private func requests(_ answers: JSON..., options: JSONObject = [:]) async throws -> ([JSON], [JSON], JSON) {
        let server = try ScriptedServer(["/": Self.refusal])
        return try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let asked = Asked(answers)
            let session = try await bridge.session()
            if !answers.isEmpty { try await session.provide("ui.credentials") { try await asked.next($0) } }
            var all: JSONObject = ["url": server.url("/"), "authenticate": true]
            for (key, value) in options { all[key] = value }
            let result = try await bridge.call("http.fetch", .object(all))
            return (await asked.questions, try await Fetching.seen(server, bridge), result)
        }
    }

    private actor Asked {
        private var answers: [JSON]
        private(set) var questions: [JSON] = []

        init(_ answers: [JSON]) { self.answers = answers }

        func next(_ question: JSON) throws -> JSON {
            questions.append(question)
            guard !answers.isEmpty else { throw BridgeError("ui.closed", "there is no answer") }
            return answers.removeFirst()
        }
    }

    @Test("Asks the user at most twice, with host and realm, and answers the strongest scheme")
    func asked() async throws {
        let answer: JSON = ["user": "ada", "password": "x"]
        let (questions, seen, result) = try await requests(answer, answer, answer)
        #expect(result["status"] == 401)
        #expect(
            questions == [
                ["host": "127.0.0.1", "realm": "there", "retry": false],
                ["host": "127.0.0.1", "realm": "there", "retry": true],
            ])
        let fields = seen.map { Fetching.header("Authorization", of: $0) }
        #expect(fields.count == 3 && fields[0] == nil)
        #expect(fields[1]?.hasPrefix(#"Digest username="ada", realm="there", nonce="n", uri="/", response=""#) == true)
    }

    @Test("Does not ask if authenticate is false or the caller set the header; without an answer, returns the 401")
    func notAsked() async throws {
        let answer: JSON = ["user": "ada", "password": "x"]
        for (options, asks) in [
            (["authenticate": false], 0), (["headers": ["Authorization": "own"]], 0),
        ] as [(JSONObject, Int)] {
            let (questions, seen, _) = try await requests(answer, options: options)
            #expect(questions.count == asks && seen.count == 1)
        }
        let (questions, seen, result) = try await requests(JSON.null)
        #expect(questions.count == 1 && seen.count == 1 && result["status"] == 401)
        let (none, once, alone) = try await requests()
        #expect(none.isEmpty && once.count == 1 && alone["status"] == 401)
    }

    @Test("Sends the body again with each answer")
    func right() async throws {
        let server = try ScriptedServer(["*": Self.refusal, "/open": Script.response("in")])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            try await session.provide("ui.credentials") { _ in ["user": "a", "password": "b"] }
            let options: JSON = [
                "url": server.url("/closed"), "method": "POST", "body": ["text": "abc"], "authenticate": true,
            ]
            try await bridge.call("http.fetch", options)
            let bodies = try await Fetching.seen(server, bridge).map { $0["body"] }
            #expect(bodies == ["abc", "abc", "abc"])
        }
    }
}
