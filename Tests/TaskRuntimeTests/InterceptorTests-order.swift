import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

extension InterceptorTests {
    @Test("A session's calls to a plugin start in the order of arrival, in any order of decisions")
    func order() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        let other = bench.client()
        client.send(#"{"task":"work","options":1,"callbackId":1}"#)
        client.send(#"{"task":"work","options":2,"callbackId":2}"#)
        client.send(#"{"task":"slow","options":3,"callbackId":3}"#)
        other.send(#"{"task":"slow","options":4,"callbackId":1}"#)
        #expect(one.questions.count == 2)
        #expect(bench.host.started.map(\.options) == ["4"])
        one.decide(1, #"{"pass":true}"#)
        #expect(bench.host.started.map(\.options) == ["4"])
        one.decide(0, #"{"pass":true}"#)
        #expect(bench.host.started.map(\.options) == ["4", "1", "2", "3"])
    }

    @Test("Calls that an interceptor answers, or that end, do not delay later calls")
    func orderOfAnswers() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        for id in 1...3 { client.send(#"{"task":"work","options":\#(id),"callbackId":\#(id)}"#) }
        client.send(#"{"task":"slow","options":4,"callbackId":4}"#)
        one.decide(1, #"{"result":"two"}"#)
        #expect(client.readOne()?["result"] == "two")
        client.send(#"{"cancel":1}"#)
        one.decide(2, #"{"task":"slow"}"#)
        #expect(client.readOne()?.errorCode == "call.cancelled")
        bench.runtime.writeOutput()
        #expect(Set(bench.host.started.map(\.options)) == ["3", "4"])
    }

    @Test("A call that an interceptor makes to decide does not wait behind calls that wait for the decision")
    func orderOfInnerCalls() {
        let one = FakeInterceptor(bench, "look", ["one"])
        let client = bench.client()
        client.send(#"{"task":"one","options":1,"callbackId":1}"#)
        client.send(#"{"task":"slow","options":2,"callbackId":2}"#)
        let inner = one.call("one", "1", behind: 0)
        #expect(bench.host.started.map(\.options) == ["1"])
        bench.reply(0, "9")
        #expect(inner.all == ["9"])
        one.decide(0, #"{"result":9}"#)
        bench.runtime.writeOutput()
        #expect(bench.host.started.map(\.options) == ["1", "2"])
    }

    // MARK: Intercepted tasks

    @Test("A plugin can set the tasks of its interceptors after it has started")
    func patterns() throws {
        let one = FakeInterceptor(bench, "look", []) { _ in #"{"result":1}"# }
        let client = bench.client()
        client.send(#"{"task":"work","options":0}"#)
        #expect(bench.host.started.count == 1)
        try bench.runtime.takeInterceptedTasks(["interceptors": ["look.all": ["wo*"]]], of: one.instance)
        client.send(#"{"task":"work","callbackId":1}"#)
        #expect(client.readOne()?["result"] == 1)
        try bench.runtime.takeInterceptedTasks([:], of: one.instance)
        #expect(one.report?["tasks"] == ["wo*"])
        for bad: JSON in [1, ["other": ["a"]], ["look.all": "a"], ["look.all": ["a*b"]], ["look.all": [""]]] {
            #expect(throws: BridgeError.self) {
                try bench.runtime.takeInterceptedTasks(["interceptors": bad], of: one.instance)
            }
        }
        #expect(one.report?["tasks"] == ["wo*"])
    }

    @Test(
        "A manifest with an invalid interceptor is refused",
        arguments: [
            (#"{"name":"","summary":"a","tasks":[]}"#, "has no name"),
            (#"{"name":"a","summary":"a","tasks":["*b"]}"#, "expected the name of a task"),
            (#"{"name":"a","summary":"a","tasks":["b"],"onFailure":"sometimes"}"#, "onFailure"),
            (#"{"name":"a","tasks":["b"]}"#, "summary"), (#"{"name":"a","summary":"a"}"#, "tasks"),
            (#"{"name":"a","summary":"a","tasks":[]},{"name":"a","summary":"a","tasks":[]}"#, "have the same name"),
        ])
    func manifests(interceptors: String, reason: String) throws {
        let text = #"{"name":"p","version":"1","tasks":[],"interceptors":[\#(interceptors)]}"#
        let error = #expect(throws: BridgeError.self) { try PluginManifest(JSON(parsing: text)) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    // MARK: Diagnostics

    @Test("The traffic monitor shows the question and the decision, but not the question as a call")
    func traffic() throws {
        let watcher = bench.client()
        watcher.send(#"{"task":"bridge.monitor","callbackId":"m"}"#)
        _ = FakeInterceptor(bench, "look", ["work"]) { _ in #"{"task":"slow","options":{"password":"x"}}"# }
        let client = bench.client()
        _ = watcher.read()
        client.send(#"{"task":"work","callbackId":1}"#)
        bench.reply(0, "1")
        let lines = watcher.read().compactMap { $0["data"] }
        #expect(lines.compactMap { $0["kind"]?.stringValue } == ["call", "ask", "decision", "callback"])
        #expect(lines.map { $0["task"] } == ["work", "work", "work", "slow"])
        #expect(lines[1]["interceptor"] == "look.all" && lines[1]["plugin"] == "look")
        #expect(lines[2]["decision"] == "redirect" && lines[2]["target"] == "slow")
        #expect(lines[2]["options"] == ["password": "<private>"])
        #expect(Set(lines.map { $0["call"] }).count == 1)
    }

    @Test("bridge.calls lists an intercepted call once, with the interceptor that decides")
    func calls() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        client.send(#"{"task":"bridge.calls","callbackId":2}"#)
        let calls = client.readOne()?["result"]?["calls"]?.arrayValue ?? []
        #expect(calls.compactMap { $0["task"]?.stringValue } == ["work", "bridge.calls"])
        #expect(calls.first?["interceptor"] == ["name": "look.all", "plugin": "look"])
        #expect(calls.first?["state"] == "running")
        one.decide(0, #"{"task":"slow"}"#)
        client.send(#"{"task":"bridge.calls","callbackId":2}"#)
        let first = client.readOne()?["result"]?["calls"]?[0]
        #expect(first?["task"] == "slow" && first?["calledAs"] == "work" && first?["interceptor"] == nil)
    }
}
