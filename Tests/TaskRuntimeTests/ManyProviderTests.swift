import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("A task that many sessions provide")
struct ManyProviderTests {
    let bench = Bench()

    private func provide(_ client: FakeClient, _ scope: String = "any") {
        client.send(#"{"task":"bridge.register","options":{"tasks":["t"],"scope":"\#(scope)"},"callbackId":0}"#)
        #expect(client.readOne()?["result"] != nil)
    }

    private var registrations: Registrations? {
        (bench.runtime.tasks.find("t")?.provider as? ClientTask)?.registrations
    }

    private func apply(_ rules: [PolicyRule]) {
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: rules))
    }

    private func mayServe(_ client: (uid: UInt32?, user: String?)) -> PolicyRule {
        var rule = PolicyRule(.allow, [.serve], file: "t.toml", line: 1)
        rule.uids = client.uid.map { [$0] }
        rule.users = client.user.map { [ExactText($0)] }
        return rule
    }

    @Test("After the first call, calls visit only providers that may serve the caller")
    func visits() {
        apply([PolicyRule(.allow, [.call, .register], file: "t.toml", line: 1), mayServe((0, nil))])
        let server = bench.client(uid: 0)
        provide(server)
        for _ in 0..<300 { provide(bench.client(uid: 1_000)) }
        let caller = bench.client(uid: 2_000)
        caller.send(#"{"task":"t","callbackId":1}"#)
        #expect(server.readOne()?["task"] == "t")
        let before = registrations?.visits ?? 0
        for id in 2..<12 { caller.send(#"{"task":"t","callbackId":\#(id)}"#) }
        #expect(server.read().count == 10)
        #expect((registrations?.visits ?? 0) - before == 10)
    }

    @Test("A provider gets calls while a login or a policy permits it to serve the caller")
    func reconsidered() {
        let rules = [
            PolicyRule(.allow, [.call, .register], file: "t.toml", line: 1), mayServe((0, nil)),
            mayServe((nil, "ann")),
        ]
        apply(rules)
        let (server, page) = (bench.client(uid: 0), bench.client(uid: 1_000))
        for client in [server, page] { provide(client) }
        let caller = bench.client(uid: 2_000)
        func called() -> [Bool] {
            caller.send(#"{"task":"t","callbackId":"\#(bench.runtime.calls.begunCount)"}"#)
            return [server, page].map { $0.read().contains { $0["task"] == "t" } }
        }
        #expect(called() == [true, false])
        page.session.user = "ann"
        bench.runtime.clients.reconsider(page.session)
        #expect(called() == [false, true])
        page.session.user = nil
        bench.runtime.clients.reconsider(page.session)
        #expect(called() == [true, false])
        apply(rules + [mayServe((1_000, nil))])
        #expect(called() == [false, true])
        bench.runtime.hangUp(page.session)
        #expect(called() == [true, false])
        bench.runtime.hangUp(server.session)
        caller.send(#"{"task":"t","callbackId":"x"}"#)
        #expect(caller.read().last?.errorCode == "task.not_found")
    }
}
