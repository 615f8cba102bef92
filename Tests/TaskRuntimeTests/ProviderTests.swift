import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Tasks that clients provide")
struct ProviderTests {
    let bench = Bench()

    func provider(uid: UInt32 = 0, _ task: String = "scan", scope: String = "any") -> FakeClient {
        let client = bench.client(uid: uid)
        client.send(
            #"{"task":"bridge.register","options":{"tasks":["\#(task)"],"scope":"\#(scope)"},"callbackId":"r"}"#)
        #expect(client.readOne()?["result"] == ["tasks": [.string(task)]])
        return client
    }

    @Test("A call is forwarded with its caller and its remaining time; the answer returns to the caller")
    func forwarding() throws {
        let provider = provider()
        let caller = bench.client(uid: Bench.daemonUID)
        caller.send(#"{"task":"scan","options":{"x":1},"callbackId":"c","timeout":900,"progress":true}"#)
        let call = try #require(provider.readOne())
        #expect(call["task"] == "scan")
        #expect(call["options"] == ["x": 1])
        #expect(call["timeout"] == 900)
        #expect(call["progress"] == true)
        #expect(
            call["caller"] == [
                "session": .number(JSONNumber(caller.session.number)), "uid": 900, "origin": "local", "user": nil,
            ])
        let id = try #require(call["callbackId"]?.int64Value)
        provider.send(#"{"callbackId":\#(id),"progress":"half","sequence":0}"#)
        provider.send(#"{"callbackId":\#(id),"result":{"code":7}}"#)
        provider.send(#"{"callbackId":\#(id),"result":"again"}"#)
        #expect(
            caller.read() == [
                ["callbackId": "c", "progress": "half", "sequence": 0],
                ["callbackId": "c", "result": ["code": 7]],
            ])
        #expect(bench.runtime.statistics.droppedReplies == 1)
    }

    @Test(
        "An answer with another id than the call's is dropped",
        arguments: [
            "0", "-1", "\"1\"", "18446744073709551615", "18446744073709551616", "99999999999999999999",
            "100000000000000000000",
        ])
    func foreignIDs(id: String) throws {
        let provider = provider()
        let caller = bench.client()
        caller.send(#"{"task":"scan","callbackId":1}"#)
        let own = try #require(provider.readOne()?["callbackId"]?.int64Value)
        for wrong in [id, "-\(own)", "1\(own)", "\"\(own)\""] {
            provider.send(#"{"callbackId":\#(wrong),"result":1}"#)
        }
        #expect(caller.read().isEmpty)
        #expect(bench.runtime.statistics.droppedReplies == 4)
        provider.send(#"{"callbackId":\#(own),"result":2}"#)
        #expect(caller.read() == [["callbackId": 1, "result": 2]])
    }

    @Test(
        "A timeout of more than 366 days counts as exactly 366 days",
        arguments: [
            ("31622400000", 31_622_400_000), ("31622399999", 31_622_399_999), ("31622400001", 31_622_400_000),
            ("18446744073709551615", 31_622_400_000), ("99999999999999999999999", 31_622_400_000),
        ])
    func longestTimeout(said: String, sent: Int64) throws {
        let provider = provider()
        bench.client().send(#"{"task":"scan","callbackId":"c","timeout":\#(said)}"#)
        #expect(provider.readOne()?["timeout"]?.int64Value == sent)
    }

    @Test(
        "A task name that is too long or has characters that are not allowed is refused",
        arguments: ["$(id>file)", "`id`", "a b", "a;b", "é", "\u{212A}", "a\u{9B}", String(repeating: "a", count: 129)])
    func badNames(name: String) {
        let client = bench.client()
        client.send(#"{"task":"bridge.register","options":{"tasks":["ok","\#(name)"]},"callbackId":1}"#)
        let answer = client.readOne()
        #expect(answer?.errorCode == "options.invalid" && answer?["error"]?["data"]?["path"] == "$.tasks[1]")
        let older = ProviderRecord(task: name, session: client.session.number)
        #expect(bench.runtime.restore([older]) == [older])
    }

    @Test(
        "A timeout that is not an integer above 0 makes the message invalid",
        arguments: ["0", "-1", "1.5", "1e3", "\"1\"", "null", "true", "[]"])
    func badTimeout(said: String) {
        let provider = provider()
        let caller = bench.client()
        caller.send(#"{"task":"scan","callbackId":"c","timeout":\#(said)}"#)
        let answer = caller.readOne()
        #expect(answer?["callbackId"] == "c")
        #expect(answer?.errorCode == "message.invalid")
        #expect(answer?["error"]?["message"]?.stringValue?.contains("above 0") == true)
        #expect(provider.read().isEmpty)
    }

    @Test("A caller's cancel and deadline are passed on to the provider")
    func cancel() throws {
        let provider = provider()
        let caller = bench.client()
        caller.send(#"{"task":"scan","callbackId":1}"#)
        caller.send(#"{"task":"scan","callbackId":2,"timeout":10}"#)
        let ids = provider.read().compactMap { $0["callbackId"] }
        caller.send(#"{"cancel":1}"#)
        #expect(provider.readOne() == ["cancel": ids[0]])
        bench.clock.advance(.milliseconds(10))
        #expect(provider.readOne() == ["cancel": ids[1]])
        #expect(caller.read().map(\.errorCode) == ["call.cancelled", "call.timeout"])
    }

    @Test("A call goes to the newest provider of the caller's own user, else to the newest permitted one")
    func preference() throws {
        let old = provider(uid: 0)
        let own = provider(uid: Bench.daemonUID)
        let newest = provider(uid: 0)
        let caller = bench.client(uid: Bench.daemonUID)
        caller.send(#"{"task":"scan"}"#)
        #expect(own.read().count == 1)
        bench.client(uid: 0).send(#"{"task":"scan"}"#)
        #expect(newest.read().count == 1)
        bench.runtime.hangUp(own.session)
        caller.send(#"{"task":"scan"}"#)
        #expect(newest.read().count == 1)
        bench.runtime.hangUp(newest.session)
        caller.send(#"{"task":"scan"}"#)
        #expect(old.read().count == 1)
        bench.runtime.hangUp(old.session)
        caller.send(#"{"task":"scan","callbackId":1}"#)
        #expect(caller.readOne()?.errorCode == "task.not_found")
    }

    @Test("A call that names a session goes only to that session")
    func addressed() {
        let first = provider(scope: "session")
        let second = provider()
        let caller = bench.client()
        caller.send(#"{"task":"scan","session":\#(first.session.number)}"#)
        #expect(first.read().count == 1)
        #expect(second.read().isEmpty)
        caller.send(#"{"task":"scan"}"#)
        #expect(second.read().count == 1)
        caller.send(#"{"task":"scan","session":\#(caller.session.number),"callbackId":1}"#)
        caller.send(#"{"task":"scan","session":999,"callbackId":2}"#)
        caller.send(#"{"task":"work","session":\#(first.session.number),"callbackId":3}"#)
        #expect(caller.read().map(\.errorCode) == ["task.not_found", "session.not_found", "task.not_found"])
    }

    @Test("A task with session scope is found only by calls that name the session")
    func sessionScope() {
        _ = provider(scope: "session")
        let caller = bench.client()
        caller.send(#"{"task":"scan","callbackId":1}"#)
        #expect(caller.readOne()?.errorCode == "task.not_found")
    }

    @Test("If a provider disconnects or ends its input, its calls end with provider.closed", arguments: [true, false])
    func providerGone(hangsUp: Bool) {
        let provider = provider()
        let caller = bench.client()
        caller.send(#"{"task":"scan","callbackId":1}"#)
        if hangsUp { bench.runtime.hangUp(provider.session) } else { bench.runtime.endInput(of: provider.session) }
        let answer = caller.readOne()
        #expect(answer?.errorCode == "provider.closed")
        #expect(answer?["error"]?["data"]?["started"] == true)
        caller.send(#"{"task":"scan","callbackId":2}"#)
        #expect(caller.readOne()?.errorCode == "task.not_found")
    }

    @Test(
        "Names of a plugin or of the daemon cannot be registered, and a list with one registers nothing",
        arguments: [
            "work", "bridge.ping", "bridge.anything", "plugin.x", "", "with space",
        ])
    func takenNames(name: String) {
        let client = bench.client()
        client.send(#"{"task":"bridge.register","options":{"tasks":["fine","\#(name)"]},"callbackId":1}"#)
        #expect(["task.exists", "options.invalid"].contains(client.readOne()?.errorCode))
        client.send(#"{"task":"fine","callbackId":2}"#)
        #expect(client.readOne()?.errorCode == "task.not_found")
    }

    @Test("An unregistered task is no longer provided")
    func unregister() {
        let provider = provider()
        provider.send(#"{"task":"bridge.unregister","options":{"tasks":["scan","never"]},"callbackId":1}"#)
        #expect(provider.readOne()?["result"] == ["tasks": []])
        provider.send(#"{"task":"scan","callbackId":2}"#)
        #expect(provider.readOne()?.errorCode == "task.not_found")
    }

    @Test("Answers to calls that a client has not received have no effect")
    func foreignIDs() {
        let provider = provider()
        let caller = bench.client()
        let liar = bench.client()
        caller.send(#"{"task":"scan","callbackId":1}"#)
        for id in ["1", "0", "-1", "99999999999999999999", "\"1\""] {
            liar.send(#"{"callbackId":\#(id),"result":"stolen"}"#)
            liar.send(#"{"callbackId":\#(id),"progress":"stolen"}"#)
        }
        #expect(caller.read().isEmpty)
        #expect(liar.read().isEmpty)
        #expect(bench.runtime.statistics.droppedReplies == 5)
        _ = provider
    }

    @Test("Calls to a provider that does not read them are answered with busy")
    func providerThatDoesNotRead() {
        var limits = RuntimeLimits()
        limits.unreadBytes = 2000
        let bench = Bench(limits: limits)
        let provider = bench.client()
        provider.send(#"{"task":"bridge.register","options":{"tasks":["scan"]}}"#)
        let caller = bench.client()
        for id in 0..<200 { caller.send(#"{"task":"scan","callbackId":\#(id)}"#) }
        #expect(provider.session.output.count < 2500)
        let answers = caller.read()
        #expect(!answers.isEmpty && answers.allSatisfy { $0.errorCode == "busy" })
    }
}
