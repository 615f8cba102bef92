import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Lists of names are processed in steps")
struct NameStepTests {
    private let bench = Bench()
    private let turns: FakeTurns

    init() { turns = FakeTurns(bench) }

    private func slow() { turns.slow() }
    private func runJobs() -> Int { turns.runJobs() }
    private func runJobs(untilOutputOf client: FakeClient) { turns.runJobs(untilOutputOf: client) }

    private func list(_ names: [String]) -> String { "[" + names.map { "\"\($0)\"" }.joined(separator: ",") + "]" }

    @Test("Names are read, checked and removed in steps; an invalid name changes nothing")
    func manyNames() {
        let client = bench.client(uid: 0)
        let names = (0..<100).map { "t\($0)" }
        slow()
        client.send(#"{"task":"bridge.register","options":{"tasks":\#(list(names))},"callbackId":1}"#)
        #expect(client.session.waitsForJobs)
        #expect(bench.runtime.tasks.find("t0") == nil)
        #expect(runJobs() > 5)
        #expect(client.readOne()?["result"]?["tasks"]?.arrayValue?.count == 100)
        client.send(#"{"task":"bridge.unregister","options":{"tasks":\#(list(names).dropLast()),7]},"callbackId":2}"#)
        _ = runJobs()
        let refusal = client.readOne()
        #expect(refusal?["error"]?["data"]?["path"] == "$.tasks[100]")
        #expect(bench.runtime.tasks.find("t0") != nil)
        client.send(#"{"task":"bridge.unregister","options":{"tasks":\#(list(names))},"callbackId":3}"#)
        #expect(runJobs() > 5)
        #expect(client.readOne()?["result"] == ["tasks": []])
        #expect(bench.runtime.tasks.find("t99") == nil)
        #expect(client.session.account.tasks == 0)
    }

    @Test("A registration with a name that a plugin takes meanwhile registers nothing")
    func takenMeanwhile() {
        let client = bench.client(uid: 0)
        let names = (0..<50).map { "t\($0)" }
        slow()
        client.send(#"{"task":"bridge.register","options":{"tasks":\#(list(names))},"callbackId":1}"#)
        _ = bench.add("other", tasks: [TaskDescription(name: "t3")], FakeHost())
        _ = runJobs()
        #expect(client.readOne()?.errorCode == "task.exists")
        #expect(bench.runtime.tasks.find("t0") == nil)
        #expect(client.session.account.tasks == 0)
    }

    @Test("A client that loses the right to provide while names are checked registers nothing")
    func deniedMeanwhile() {
        let rule = PolicyRule(.allow, [.call, .register], file: "t.toml", line: 1)
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [rule]))
        let client = bench.client(uid: 5)
        slow()
        let names = (0..<50).map { "t\($0)" }
        client.send(#"{"task":"bridge.register","options":{"tasks":\#(list(names))},"callbackId":1}"#)
        #expect(client.read().isEmpty)
        // At this point most names have been checked.
        #expect(bench.runtime.runSteps(of: client.session.account, forNanoseconds: 120_000))
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID))
        _ = runJobs()
        #expect(client.readOne()?.errorCode == "permission.denied")
        #expect(bench.runtime.tasks.find("t0") == nil)
    }

    private func retain(_ event: String, _ data: Int = 0) {
        let options = #"{"event":"\#(event)","data":\#(data),"retain":true}"#
        let client = bench.client(uid: 0)
        client.send(#"{"task":"bridge.publish","options":\#(options),"callbackId":1}"#)
        #expect(client.readOne()?["result"] != nil)
    }

    @Test("Members of long options are searched in steps, also if their names contain escapes")
    func manyMembers() {
        let client = bench.client(uid: 0)
        let listener = bench.client(uid: 0)
        listener.send(#"{"task":"bridge.subscribe","options":{"events":["e"]},"callbackId":1}"#)
        _ = listener.read()
        let members = Array(repeating: #""\n":1"#, count: 10_000).joined(separator: ",")
        let options = #"{\#(members),"\u0065vent":"e","d\u0061ta":7}"#
        let walk = Array(options.utf8).withUnsafeBytes { MemberWalk($0) }
        var walkSteps = 1
        while !walk.step() { walkSteps += 1 }
        // Each reading of the clock uses most of a share, so there are about as many shares as steps.
        bench.clock.tick = .microseconds(15)
        client.send(#"{"task":"bridge.publish","options":\#(options),"callbackId":1}"#)
        #expect(runJobs() > walkSteps + 50)
        #expect(client.readOne()?["result"] != nil)
        #expect(listener.readOne()?["data"] == 7)
    }

    private func subscription(to names: [String], _ task: String = "subscribe") -> String {
        #"{"task":"bridge.\#(task)","options":{"events":\#(list(names))},"callbackId":1}"#
    }

    @Test("A subscription reads its patterns in steps, and takes effect for all of them at once")
    func subscription() {
        let names = (0..<100).map { "e\($0)" }
        for name in names { retain(name) }
        let client = bench.client(uid: 0)
        slow()
        client.send(subscription(to: names + ["e*"]))
        #expect(client.session.waitsForJobs)
        bench.runtime.publish("e0", data: "before")
        #expect(client.read().isEmpty)
        #expect(runJobs() > 10)
        let messages = client.read()
        #expect(messages.first?["result"]?["events"]?.arrayValue?.count == 101)
        #expect(messages.dropFirst().map { $0["event"]?.stringValue } == names)
        client.send(subscription(to: ["e*"] + names.dropLast(), "unsubscribe"))
        #expect(runJobs() > 5)
        #expect(client.readOne()?["result"] == ["events": ["e99"]])
    }

    @Test("A subscription that is cancelled while its patterns are entered removes the entered ones")
    func cancelledMeanwhile() {
        let client = bench.client(uid: 0)
        slow()
        client.send(subscription(to: (0..<50).map { "e\($0)" }))
        while client.session.subscriptions.count < 20 {
            #expect(bench.runtime.runSteps(of: client.session.account, forNanoseconds: 20_000))
        }
        // None of them has taken effect yet.
        #expect(client.session.patterns.isEmpty)
        #expect(!client.session.listens(to: "e0"))
        bench.runtime.publish("e0", data: 1)
        if let call = client.session.madeCalls.first {
            bench.runtime.calls.cancel(call.handle, BridgeError(.callCancelled, "an operator did"))
        }
        #expect(runJobs() > 1)
        #expect(client.readOne()?.errorCode == "call.cancelled")
        #expect(bench.runtime.events.isUnheard)
        #expect(client.session.account.subscriptions == 0)
    }

    @Test(
        "The removal of names continues to its end, even if the call ends meanwhile",
        arguments: ["unregister", "unsubscribe"])
    func endedMeanwhile(task: String) {
        let client = bench.client(uid: 0)
        let names = list((0..<50).map { "e\($0)" })
        for (task, member) in [("register", "tasks"), ("subscribe", "events")] {
            client.send(#"{"task":"bridge.\#(task)","options":{"\#(member)":\#(names)},"callbackId":1}"#)
            #expect(client.readOne()?["result"] != nil)
        }
        func left() -> Int {
            task == "unregister" ? client.session.registrations.count : client.session.subscriptions.count
        }
        slow()
        client.send(
            #"{"task":"bridge.\#(task)","options":{"tasks":\#(names),"events":\#(names)},"callbackId":2}"#)
        while left() == 50, bench.runtime.runSteps(of: client.session.account, forNanoseconds: 20_000) {}
        #expect((1..<50).contains(left()))
        if let call = client.session.madeCalls.first {
            bench.runtime.calls.cancel(call.handle, BridgeError(.callCancelled, "an operator did"))
        }
        _ = runJobs()
        #expect(client.readOne()?.errorCode == "call.cancelled")
        #expect(left() == 0)
        #expect(!client.session.waitsForJobs)
    }

    @Test("Draining waits for retained events that are still to be sent after their callback")
    func draining() {
        for number in 0..<50 { retain("e\(number)") }
        let client = bench.client(uid: 0)
        slow()
        client.send(subscription(to: ["e*"]))
        runJobs(untilOutputOf: client)
        #expect(bench.runtime.callsInFlight == 0 && client.session.waitsForJobs)
        var isDrained = false
        bench.runtime.drain { isDrained = true }
        #expect(!isDrained)
        _ = runJobs()
        #expect(isDrained)
        #expect(client.read().count { $0["event"]?.stringValue?.hasPrefix("e") == true } == 50)
    }

    @Test("A retained event is not sent to a new subscriber if it was replaced or removed meanwhile")
    func replacedMeanwhile() {
        for number in 0..<50 { retain("e\(number)") }
        let client = bench.client(uid: 0)
        slow()
        client.send(subscription(to: ["e*"]))
        // Runs up to the callback; the retained events are sent afterwards.
        runJobs(untilOutputOf: client)
        bench.clock.tick = .zero
        retain("e7", 7)
        let forgetting = bench.client(uid: 0)
        forgetting.send(#"{"task":"bridge.publish","options":{"event":"e8","forget":true},"callbackId":1}"#)
        slow()
        _ = runJobs()
        let messages = client.read().dropFirst()
        #expect(messages.filter { $0["event"] == "e7" }.map { $0["data"] } == [7])
        #expect(!messages.contains { $0["event"] == "e8" })
        #expect(messages.count == 49)
    }

    @Test("A subscription that is refused, or whose session closes meanwhile, leaves no patterns")
    func brokenSubscription() {
        let client = bench.client(uid: 0)
        slow()
        client.send(subscription(to: (0..<50).map { "e\($0)" } + ["*.a"]))
        _ = runJobs()
        #expect(client.readOne()?["error"]?["data"]?["path"] == "$.events[50]")
        #expect(client.session.subscriptions.isEmpty)
        client.send(subscription(to: (0..<50).map { "e\($0)" }))
        bench.runtime.hangUp(client.session)
        _ = runJobs()
        #expect(bench.runtime.events.isUnheard)
        #expect(bench.runtime.callsInFlight == 0)
    }
}
