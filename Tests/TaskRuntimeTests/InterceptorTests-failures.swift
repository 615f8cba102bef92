import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

extension InterceptorTests {
    @Test(
        "If an interceptor fails, the call fails or continues without it, as onFailure specifies",
        arguments: [ErrorCode.pluginCrashed, .pluginUnavailable, .replyMissing, .internal, .taskNotFound])
    func failures(code: ErrorCode) {
        let strict = FakeInterceptor(bench, "strict", ["work"], onFailure: .refuse)
        let lax = FakeInterceptor(bench, "lax", ["slow"], onFailure: .pass)
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        client.send(#"{"task":"slow","options":6,"callbackId":2}"#)
        strict.fail(0, BridgeError(code, "it fell over", data: ["signal": 11], isTransient: true))
        lax.fail(0, BridgeError(code, "it fell over"))
        let error = client.readOne()?["error"]
        #expect(error?["code"]?.stringValue == code.rawValue)
        #expect(
            error?["message"]?.stringValue
                == "the interceptor strict.all of the plugin strict failed, so the call of work was refused: "
                + "it fell over")
        #expect(error?["data"]?["signal"] == 11 && error?["data"]?["interceptor"] == "strict.all")
        #expect(error?["transient"] == true)
        #expect(bench.host.started.map(\.options) == ["6"])
        #expect(strict.report?["failed"] == 1 && lax.report?["failed"] == 1)
    }

    @Test("While a plugin restarts, calls wait for its interceptor if onFailure is refuse, and skip it if pass")
    func restarting() {
        let strict = FakeInterceptor(bench, "strict", ["work"], onFailure: .refuse)
        let lax = FakeInterceptor(bench, "lax", ["slow"], onFailure: .pass)
        let client = bench.client()
        let crash = BridgeError(.pluginCrashed, "gone")
        for one in [strict, lax] { one.instance.crashed(crash, lost: [], isRestarting: true) }
        client.send(#"{"task":"work","callbackId":1}"#)
        client.send(#"{"task":"work","callbackId":2,"timeout":10}"#)
        client.send(#"{"task":"slow","callbackId":3}"#)
        #expect(strict.questions.isEmpty && lax.questions.isEmpty)
        bench.clock.advance(.milliseconds(10))
        let error = client.readOne()?["error"]
        #expect(error?["code"] == "call.timeout" && error?["data"]?["started"] == false)
        strict.instance.restarted()
        #expect(strict.questions.count == 1)
        strict.decide(0, #"{"result":1}"#)
        #expect(client.readOne()?["result"] == 1)

        strict.instance.crashed(crash, lost: [], isRestarting: true)
        client.send(#"{"task":"work","callbackId":4}"#)
        strict.instance.crashed(crash, lost: [], isRestarting: false)
        #expect(client.readOne()?.errorCode == "plugin.unavailable")
        client.send(#"{"task":"work","callbackId":5}"#)
        #expect(client.readOne()?.errorCode == "plugin.unavailable")
    }

    @Test("If the process ends while it decides and onFailure is pass, the call continues, once")
    func crashWhileAsked() {
        let one = FakeInterceptor(bench, "look", ["work"], onFailure: .pass)
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        one.instance.crashed(
            BridgeError(.pluginCrashed, "gone"), lost: [one.host.started[0].handle], isRestarting: true)
        #expect(bench.host.started.count == 1)
        bench.reply(0, "1")
        #expect(client.read() == [["callbackId": 1, "result": 1]])
    }

    @Test("A closed plugin gets no more questions; its open questions end as onFailure specifies")
    func stopped() {
        let strict = FakeInterceptor(bench, "strict", ["work"], onFailure: .refuse)
        let lax = FakeInterceptor(bench, "lax", ["slow"], onFailure: .pass)
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        client.send(#"{"task":"slow","callbackId":2}"#)
        for one in [strict, lax] { bench.runtime.close(one.instance) }
        #expect(client.readOne()?.errorCode == "plugin.unavailable")
        #expect(bench.host.started.count == 1)
        #expect(strict.host.cancelled.map(\.1) == [.shutdown])
        client.send(#"{"task":"work","callbackId":3}"#)
        #expect(bench.host.started.count == 2)
        #expect(bench.runtime.tasks.find("work")?.interceptors == nil)
    }

    @Test("If the plugin of a task closes during a decision, the call ends with plugin.unavailable")
    func taskStopped() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        bench.runtime.close(bench.instance)
        #expect(client.readOne()?.errorCode == "plugin.unavailable")
        one.decide(0, #"{"pass":true}"#)
        #expect(bench.host.started.isEmpty && bench.runtime.calls.count == 0)
    }

    @Test("Draining waits for a call whose interceptor decides, and the call continues")
    func drain() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        var isDrained = false
        bench.runtime.drain { isDrained = true }
        one.decide(0, #"{"pass":true}"#)
        #expect(!isDrained)
        bench.reply(0, "1")
        #expect(isDrained && client.readOne()?["result"] == 1)
    }
}
