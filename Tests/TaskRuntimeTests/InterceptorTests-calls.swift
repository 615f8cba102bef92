import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

extension InterceptorTests {
    @Test("A call that an interceptor makes to decide is not passed to it again, and it can use the result")
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
        // Each was asked once: `outer` and `one` about the client's call, `other` about the inner call.
        #expect([outer, one, other].map { $0.questions.count } == [1, 1, 1])
    }

    @Test("A nested call on behalf of a decision is not passed to the interceptor that makes the decision")
    func deepLoop() {
        // The interceptor calls slow, which calls work, which the interceptor intercepts.
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

    @Test("A plugin's calls are intercepted, but calls in its own name not by its own interceptors")
    func pluginCalls() {
        let one = FakeInterceptor(bench, "look", ["work"]) { _ in #"{"result":"seen"}"# }
        let other = FakeInterceptor(bench, "other", ["slow"])
        #expect(other.call("work", behind: nil).all == ["\"seen\""])
        let own = one.call("work", behind: nil)
        #expect(own.all.isEmpty && bench.host.started.count == 1)
        bench.reply(0, "1")
        #expect(own.all == ["1"])
    }

    @Test("When a call ends, its open question and the calls made to answer it are cancelled")
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

    @Test("When a client disconnects, the questions about its calls are cancelled")
    func gone() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work"}"#)
        bench.runtime.hangUp(client.session)
        #expect(one.host.cancelled.count == 1)
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("A call ends at its deadline if the interceptor does not decide; the decision's time counts")
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

    @Test("The caller gets the progress of the interceptor and of the task")
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

    @Test("The question about a one-way call states that it is one-way, and the decision takes effect")
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

    @Test("Intercepted calls in other dialects are answered in that dialect, with the name that the caller used")
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

    @Test("A redirect to a task that the caller may not call is refused; the error names the interceptor")
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
