import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("A call")
struct CallTests {
    let bench = Bench()

    @Test("A plugin's answer to a cancel is too late: the caller gets the reason why the call ended")
    func answerToCancel() {
        bench.host.onCancel = { [bench] handle in
            bench.instance.fail(handle, BridgeError(.callCancelled, "as you wish"))
        }
        let client = bench.client()
        client.send(#"{"task":"quick","callbackId":1}"#)
        bench.clock.advance(.milliseconds(50))
        let ended = client.read()
        #expect(ended.map(\.errorCode) == ["call.timeout"])
        #expect(ended.first?["error"]?["data"] == ["started": true])
        // The work has ended and no longer counts.
        var isIdle = false
        bench.runtime.whenIdle(bench.instance, within: .seconds(5)) { isIdle = true }
        #expect(isIdle)
    }

    @Test("A call reaches the plugin with its options unchanged, and the result returns with the call's id")
    func result() {
        let client = bench.client()
        client.send(#"{"task":"work","options":{"n": 1.50},"callbackId":"a"}"#)
        #expect(bench.host.started.map(\.work) == [.task(0)])
        #expect(bench.host.started[0].options == #"{"n": 1.50}"#)
        #expect(client.read().isEmpty)
        bench.reply(0, #"{"ok":true}"#)
        #expect(client.readOne() == ["callbackId": "a", "result": ["ok": true]])
    }

    @Test("A call is in flight while it starts: it is listed, and ends with its session")
    func beginning() {
        let client = bench.client()
        var seen: [Int] = []
        bench.host.onStart = { [bench] _ in
            seen.append(bench.runtime.calls.inFlight.count)
            bench.runtime.hangUp(client.session)
        }
        client.send(#"{"task":"work","callbackId":1}"#)
        #expect(seen == [1])
        #expect(bench.host.cancelled.map(\.1) == [.gone])
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("A call that starts while another one starts is listed after it")
    func nested() {
        let (outer, inner) = (bench.client(), bench.client())
        bench.host.onStart = { if $0.options == "1" { inner.send(#"{"task":"work","options":2,"callbackId":2}"#) } }
        outer.send(#"{"task":"work","options":1,"callbackId":1}"#)
        let sessions = bench.runtime.calls.inFlight.map { $0.session?.number }
        #expect(sessions == [outer.session.number, inner.session.number])
        bench.reply(0, "1")
        bench.reply(1, "2")
        #expect(outer.readOne() == ["callbackId": 1, "result": 1])
        #expect(inner.readOne() == ["callbackId": 2, "result": 2])
        #expect(bench.runtime.calls.inFlight.isEmpty)
        #expect(outer.session.madeCalls.isEmpty && inner.session.madeCalls.isEmpty)
    }

    @Test("Without an id the caller gets no callback")
    func oneWay() {
        let client = bench.client()
        client.send(#"{"task":"work"}"#)
        bench.reply(0, "1")
        client.send(#"{"task":"unknown"}"#)
        #expect(client.read().isEmpty)
        #expect(client.session.callsInFlight == 0)
    }

    @Test("A second reply is dropped and counted")
    func secondReply() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        bench.reply(0, "1")
        bench.reply(0, "2")
        bench.instance.fail(bench.host.started[0].handle, BridgeError(.internal, "late"))
        #expect(client.read() == [["callbackId": 1, "result": 1]])
        #expect(bench.runtime.statistics.droppedReplies == 2)
    }

    @Test(
        "A reply that is not JSON ends the call with reply.invalid", arguments: ["", "{", "1 2", "[1,]", "tru"])
    func invalidReply(text: String) {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        bench.reply(0, text)
        #expect(client.readOne()?.errorCode == "reply.invalid")
    }

    @Test("A result above the maximum message length ends the call with result.too_large")
    func tooLarge() {
        var limits = RuntimeLimits()
        limits.messageBytes = 100
        let bench = Bench(limits: limits)
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        bench.reply(0, "\"" + String(repeating: "x", count: 99) + "\"")
        #expect(client.readOne()?.errorCode == "result.too_large")
    }

    @Test("A call of an unknown task ends with task.not_found")
    func unknownTask() {
        let client = bench.client()
        client.send(#"{"task":"nope","callbackId":1}"#)
        #expect(client.readOne()?.errorCode == "task.not_found")
    }

    @Test("Only root and the daemon's own user may call; the error contains the rule")
    func permission() {
        let stranger = bench.client(uid: 1000)
        stranger.send(#"{"task":"work","callbackId":1}"#)
        let answer = stranger.readOne()
        #expect(answer?.errorCode == "permission.denied")
        #expect(answer?["error"]?["data"]?["rule"]?.stringValue?.contains("uid 900") == true)
        for uid in [0, Bench.daemonUID] {
            let client = bench.client(uid: uid)
            client.send(#"{"task":"work","callbackId":1}"#)
            #expect(client.read().isEmpty)
        }
        #expect(bench.host.started.count == 2)
    }

    @Test("Clients cannot call tasks that are only for plugins")
    func internalTasks() {
        let client = bench.client()
        for task in ["bridge.session.close", "bridge.session.identify", "plugin.start", "plugin.stop"] {
            client.send(#"{"task":"\#(task)","options":{"session":1},"callbackId":1}"#)
            #expect(client.readOne()?.errorCode == "task.not_found")
        }
    }

    // MARK: Ids

    @Test("A second call with an id that is in flight is refused, and the first call still gets its callback")
    func duplicate() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":"a"}"#)
        client.send(#"{"task":"work","callbackId":"\u0061"}"#)
        let refusal = client.readOne()
        #expect(refusal?["callbackId"] == .null)
        #expect(refusal?.errorCode == "call.duplicate")
        #expect(refusal?["error"]?["data"]?["callbackId"] == "a")
        bench.reply(0, "1")
        #expect(client.readOne() == ["callbackId": "a", "result": 1])
        client.send(#"{"task":"work","callbackId":"a"}"#)
        #expect(bench.host.started.count == 2)
    }

    @Test("A number and a string of the same digits are different ids, as are equal ids of two sessions")
    func distinctIDs() {
        let client = bench.client()
        let other = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        client.send(#"{"task":"work","callbackId":"1"}"#)
        other.send(#"{"task":"work","callbackId":1}"#)
        #expect(bench.host.started.count == 3)
        bench.reply(1, "\"string\"")
        #expect(client.readOne() == ["callbackId": "1", "result": "string"])
    }

    @Test("The error for an invalid message with an id in flight does not appear to end that call")
    func badMessageInFlight() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":"a"}"#)
        client.send(#"{"task":7,"callbackId":"a"}"#)
        client.send(#"{"callbackId":"a","task":}"#)
        let answers = client.read()
        #expect(answers.count == 2)
        for answer in answers {
            #expect(answer["callbackId"] == .null)
            #expect(answer.errorCode == "message.invalid")
            #expect(answer["error"]?["data"]?["callbackId"] == "a")
        }
    }

    // MARK: Progress

    @Test("Callers that request progress get it numbered and in order, and never after the callback")
    func progress() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":"p","progress":true}"#)
        client.send(#"{"task":"work","callbackId":"q"}"#)
        bench.progress(0, "0.1")
        bench.progress(1, "0.1")
        bench.progress(0, "[2]")
        bench.reply(0, "1")
        bench.progress(0, "0.9")
        #expect(
            client.read() == [
                ["callbackId": "p", "progress": JSON.number(JSONNumber(text: "0.1")!), "sequence": 0],
                ["callbackId": "p", "progress": [2], "sequence": 1], ["callbackId": "p", "result": 1],
            ])
    }

    @Test("A slow reader gets only the newest progress, before the callback")
    func slowReader() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1,"progress":true}"#)
        Array(repeating: UInt8(ascii: " "), count: Session.slowReaderBytes).withUnsafeBytes {
            client.session.output.append($0)
        }
        for value in 0..<10 { bench.progress(0, "\(value)") }
        #expect(client.session.output.count == Session.slowReaderBytes)
        client.session.output.removeFirst(client.session.output.count)
        bench.runtime.refill(client.session)
        #expect(client.readOne() == ["callbackId": 1, "progress": 9, "sequence": 9])
        bench.reply(0, "1")
        #expect(client.read().count == 1)
    }

    // MARK: Operators

    @Test("A call is listed while in flight, and can be killed")
    func kill() throws {
        let client = bench.client()
        let operatorClient = bench.client()
        client.send(#"{"task":"work","callbackId":"a","timeout":1000}"#)
        bench.clock.advance(.milliseconds(300))
        operatorClient.send(#"{"task":"bridge.calls","callbackId":1}"#)
        let listed = try #require(operatorClient.readOne()?["result"]?["calls"]?[0])
        #expect(listed["task"] == "work")
        #expect(listed["ageMs"] == 300)
        #expect(listed["timeoutMs"] == 700)
        #expect(listed["state"] == "running")
        let number = try #require(listed["call"]?.int64Value)
        operatorClient.send(#"{"task":"bridge.kill","options":{"call":\#(number)},"callbackId":2}"#)
        #expect(operatorClient.readOne()?["result"] == [:])
        #expect(client.readOne()?.errorCode == "call.cancelled")
        operatorClient.send(#"{"task":"bridge.kill","options":{"call":\#(number)},"callbackId":2}"#)
        #expect(operatorClient.readOne()?.errorCode == "call.not_found")
    }

    @Test("bridge.status reports the number of a task's calls and errors, and their duration")
    func statistics() throws {
        let client = bench.client()
        for id in 1...4 { client.send(#"{"task":"work","callbackId":\#(id)}"#) }
        bench.clock.advance(.milliseconds(8))
        bench.reply(0, "1")
        bench.instance.fail(bench.host.started[1].handle, BridgeError(.internal, "no"))
        _ = client.read()
        client.send(#"{"task":"bridge.status","callbackId":9}"#)
        let result = try #require(client.readOne()?["result"])
        let task = try #require(result["tasks"]?.arrayValue?.first { $0["name"] == "work" })
        #expect(task["calls"] == 4)
        #expect(task["errors"] == 1)
        #expect(task["inFlight"] == 2)
        let p50 = try #require(task["p50Us"]?.int64Value)
        #expect((8000...10_000).contains(p50))
        #expect(result["version"] == "1.2.3")
    }
}
