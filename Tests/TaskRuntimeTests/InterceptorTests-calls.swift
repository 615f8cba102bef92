import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

extension InterceptorTests {
    @Test("What its plugin calls to decide is not shown to it again, and it can keep the result")
    func cache() {
        let other = FakeInterceptor(bench, "other", ["work"]) { _ in #"{"pass":true}"# }
        let one = FakeInterceptor(bench, "cache", ["work"])
        let outer = FakeInterceptor(bench, "outer", ["work"]) { _ in #"{"pass":true}"# }
        let client = bench.client()
        client.send(#"{"task":"work","options":1,"callbackId":1}"#)
        let inner = one.call("work", "1", behind: 0)
        #expect(bench.host.started.count == 1)
        bench.reply(0, "\"fresh\"")
        #expect(inner.all == ["\"fresh\""])
        one.decide(0, #"{"result":"fresh"}"#)
        #expect(client.read() == [["callbackId": 1, "result": "fresh"]])
        // Each has seen the call once: those before as it was asked about, those behind as it was made.
        #expect([outer, one, other].map { $0.questions.count } == [1, 1, 1])
    }

    @Test("What another task calls on behalf of such a call comes back to none that waits for it")
    func deepLoop() {
        // The interceptor calls slow, which calls work, which is intercepted by it.
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","options":1,"callbackId":1}"#)
        _ = one.call("slow", behind: 0)
        #expect(bench.host.started.map(\.work) == [.task(2)])
        Array("work".utf8).withUnsafeBytes { name in
            (Array("2".utf8) + repeatElement(0, count: 64)).withUnsafeBytes { options in
                _ = bench.runtime.call(
                    PluginCall(
                        parent: bench.host.started[0].handle, task: name,
                        options: UnsafeRawBufferPointer(rebasing: options[..<1]), session: nil, deadline: .standard,
                        onProgress: nil, completion: { _ in }), by: bench.instance)
            }
        }
        #expect(bench.host.started.map(\.work) == [.task(2), .task(0)])
        #expect(one.questions.count == 1)
    }

    @Test("A plugin's calls are intercepted; those that it makes in its own name not by itself")
    func pluginCalls() {
        let one = FakeInterceptor(bench, "look", ["work"]) { _ in #"{"result":"seen"}"# }
        let other = FakeInterceptor(bench, "other", ["slow"])
        #expect(other.call("work", behind: nil).all == ["\"seen\""])
        let own = one.call("work", behind: nil)
        #expect(own.all.isEmpty && bench.host.started.count == 1)
        bench.reply(0, "1")
        #expect(own.all == ["1"])
    }

    @Test("When the call ends, so do the question and what was called to answer it")
    func cancelled() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        let inner = one.call("work", behind: 0)
        client.send(#"{"cancel":1}"#)
        let error = client.readOne()?["error"]
        #expect(error?["code"] == "call.cancelled" && error?["data"]?["started"] == true)
        #expect(one.host.cancelled.map(\.0) == [one.host.started[0].handle])
        #expect(inner.all == ["call.cancelled"])
        one.decide(0, #"{"pass":true}"#)
        #expect(client.read().isEmpty)
        #expect(bench.host.started.count == 1)
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("A client that leaves ends the question as well")
    func gone() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work"}"#)
        bench.runtime.hangUp(client.session)
        #expect(one.host.cancelled.count == 1)
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("One that never decides is ended by the call's deadline, which counts from the beginning")
    func deadline() {
        let one = FakeInterceptor(bench, "look", ["quick"], onFailure: .pass)
        let client = bench.client()
        client.send(#"{"task":"quick","callbackId":1}"#)
        bench.clock.advance(.milliseconds(50))
        let error = client.readOne()?["error"]
        #expect(error?["code"] == "call.timeout")
        #expect(
            error?["message"]
                == "the interceptor look.all of the plugin look did not decide about quick before the call's deadline")
        #expect(one.host.cancelled.count == 1)
        client.send(#"{"task":"quick","callbackId":2}"#)
        bench.clock.advance(.milliseconds(30))
        one.decide(1, #"{"pass":true}"#)
        bench.clock.advance(.milliseconds(20))
        #expect(client.readOne()?["error"]?["message"] == "quick did not answer before the call's deadline")
    }

    @Test("Progress of the task reaches the caller, and so does the interceptor's own")
    func progress() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1,"progress":true}"#)
        Array("\"thinking\"".utf8).withUnsafeBytes { one.instance.progress(one.host.started[0].handle, $0) }
        one.decide(0, #"{"pass":true}"#)
        bench.progress(0, "2")
        bench.reply(0, "3")
        #expect(
            client.read() == [
                ["callbackId": 1, "progress": "thinking", "sequence": 0],
                ["callbackId": 1, "progress": 2, "sequence": 1], ["callbackId": 1, "result": 3],
            ])
    }

    @Test("One-way calls are shown as such, and go on")
    func oneWay() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","options":4}"#)
        #expect(one.questions == [["interceptor": "look.all", "task": "work", "oneWay": true, "options": 4]])
        one.decide(0, #"{"pass":true}"#)
        bench.reply(0, "1")
        client.send(#"{"task":"work","options":5}"#)
        one.decide(1, #"{"error":{"code":"a.b","message":"c"}}"#)
        #expect(client.read().isEmpty)
        #expect(bench.runtime.calls.count == 0 && client.session.callsInFlight == 0)
    }

    @Test("Other dialects are answered in their own form, under the name that the caller used")
    func dialects() throws {
        let bench = Bench(extraTasks: [TaskDescription(name: "camera.scan")])
        let one = FakeInterceptor(bench, "look", ["camera.scan"])
        let client = bench.client()
        client.send(#"{"callbackId":"c","pluginId":"camera","methodName":"scan","options":{"a":1}}"#)
        one.decide(0, #"{"task":"work"}"#)
        bench.reply(0, #"{"b":2}"#)
        #expect(
            client.read() == [
                [
                    "callbackId": "c", "pluginId": "camera", "methodName": "scan", "save": false, "success": true,
                    "data": ["b": 2],
                ]
            ])
        client.send(
            """
            [{"jsonrpc":"2.0","method":"camera.scan","params":{"n":1},"id":1},\
            {"jsonrpc":"2.0","method":"camera.scan","params":{"n":2},"id":2}]
            """)
        one.decide(2, #"{"error":{"code":"look.no","message":"No."}}"#)
        #expect(client.read().isEmpty)
        one.decide(1, #"{"result":1}"#)
        let batch = try #require(client.readOne()?.arrayValue)
        #expect(batch.map { $0["id"] } == [2, 1])
        #expect(batch[0]["error"]?["message"] == "No." && batch[1]["result"] == 1)
    }

    @Test("Who may not call the other task is not redirected to it, and gets the interceptor's name")
    func permission() throws {
        let one = FakeInterceptor(bench, "look", ["work"])
        let work = try #require(bench.runtime.tasks.find("work"))
        let caller = bench.client(uid: 5)
        let call = bench.runtime.calls.begin(
            CallRequest(
                origin: .plugin, task: .passUnretained(work), session: .passUnretained(caller.session),
                startedAt: bench.clock.now, deadline: .never))
        var errors: [BridgeError] = []
        call.extras.completion = { if case .failure(let error) = $0 { errors.append(error) } }
        [UInt8]("{}".utf8).withPadding { bench.runtime.calls.dispatch(call, of: work, options: $0) }
        one.decide(0, #"{"task":"slow"}"#)
        #expect(errors.map(\.code) == [.permissionDenied])
        #expect(
            errors.first?.message
                == "uid 5 may not call slow, to which the interceptor look.all of the plugin look redirected the call of work"
        )
        #expect(errors.first?.data?["rule"] != nil && errors.first?.data?["task"] == "slow")
        #expect(bench.host.started.isEmpty)
    }
}
