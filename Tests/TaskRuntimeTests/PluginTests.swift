import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Plugins")
struct PluginTests {
    let bench = Bench()

    /// A call by the bench's plugin, with its outcomes and progress.
    private final class Outgoing {
        var outcomes: [String] = []
        var progress: [String] = []
        var handle = CallHandle(rawValue: 0)
    }

    private func call(
        _ task: String, _ options: String = "{}", parent: CallHandle? = nil, session: UInt64? = nil,
        deadline: TaskDeadline = .standard
    ) -> Outgoing {
        let outgoing = Outgoing()
        let name = Array(task.utf8)
        let text = Array(options.utf8)
        name.withUnsafeBytes { name in
            text.withUnsafeBytes { text in
                outgoing.handle = bench.runtime.call(
                    PluginCall(
                        parent: parent, task: name, options: text, session: session, deadline: deadline,
                        onProgress: { outgoing.progress.append("\($0) \(String(decoding: $1, as: UTF8.self))") },
                        completion: { outcome in
                            switch outcome {
                            case .result(let result): outgoing.outcomes.append(String(decoding: result, as: UTF8.self))
                            case .failure(let error): outgoing.outcomes.append(error.code.rawValue)
                            }
                        }),
                    by: bench.instance)
            }
        }
        return outgoing
    }

    @Test("A plugin's call of another task is answered once, with its progress")
    func bridgeCall() {
        let outgoing = call("work", "[1]")
        #expect(bench.host.started[0].options == "[1]")
        bench.progress(0, "5")
        bench.reply(0, "\"done\"")
        bench.reply(0, "\"again\"")
        #expect(outgoing.progress == ["0 5"])
        #expect(outgoing.outcomes == ["\"done\""])
    }

    @Test("A call of a plugin that names a session is refused if no client provides the task")
    func addressed() {
        let client = bench.client()
        #expect(call("work", session: client.session.number).outcomes == ["task.not_found"])
        #expect(call("work", session: 4_711).outcomes == ["session.not_found"])
        #expect(bench.host.started.isEmpty)
    }

    @Test("Options, progress and events of a plugin are not longer than a message")
    func tooLong() {
        var limits = bench.runtime.limits
        limits.messageBytes = 1_024
        bench.runtime.apply(limits)
        let long = "\"\(String(repeating: "x", count: 2_000))\""
        #expect(call("work", long).outcomes == ["message.too_large"])
        let outgoing = call("work")
        bench.progress(0, long)
        bench.progress(0, "5")
        #expect(outgoing.progress == ["0 5"])
        let refusal = Array(long.utf8).withUnsafeBytes {
            bench.instance.publish(OutgoingEvent("e", data: $0, to: nil))
        }
        #expect(refusal == "an event is not sent: its data have 2002 bytes, and a message has at most 1024")
    }

    @Test("A plugin is asked for its schemas once, on demand; its manifest has precedence")
    func describedOnce() throws {
        let host = FakeHost()
        let instance = bench.add(
            "described", tasks: [TaskDescription(name: "a", schemas: TaskSchemas(result: false)), .init(name: "b")],
            host)
        let client = bench.client()
        client.send(#"{"task":"bridge.describe","options":{"task":"a"},"callbackId":1}"#)
        client.send(#"{"task":"bridge.describe","options":{"task":"b"},"callbackId":2}"#)
        #expect(host.started.map(\.work) == [.describe])
        Array(#"{"tasks":[{"options":{"type":"null"},"result":true,"progress":{}},{"result":{}},{}]}"#.utf8)
            .withUnsafeBytes { instance.reply(host.started[0].handle, $0) }
        let answers = client.read().map { $0["result"] }
        #expect(answers[0]?["options"] == ["type": "null"])
        #expect(answers[0]?["result"] == false)
        #expect(answers[0]?["progress"] == [:])
        #expect(answers[1]?["options"] == true)
        #expect(answers[1]?["result"] == [:])
        #expect(answers[1]?["progress"] == .null)
        client.send(#"{"task":"bridge.describe","options":{"task":"b"},"callbackId":3}"#)
        #expect(client.readOne()?["result"]?["result"] == [:])
        #expect(host.started.count == 1)
    }

    @Test("A plugin that does not return its schemas is described by its manifest, and asked again")
    func describedNever() throws {
        let client = bench.client()
        for attempt in 0..<2 {
            client.send(#"{"task":"bridge.describe","options":{"task":"work"},"callbackId":1}"#)
            #expect(bench.host.started.map(\.work) == Array(repeating: .describe, count: attempt + 1))
            bench.clock.advance(.seconds(10))
            #expect(client.readOne()?["result"]?["options"] == true)
        }
        client.send(#"{"task":"bridge.describe","options":{"task":"work"},"callbackId":1}"#)
        bench.reply(2, #"{"tasks":17}"#)
        #expect(client.readOne()?["result"]?["options"] == true)
    }

    @Test("Long answers of a plugin about itself are parsed in the lane", arguments: [false, true])
    func describedAtLength(isBroken: Bool) throws {
        let lane = ManualLane()
        let bench = Bench(lane: lane)
        let client = bench.client()
        client.send(#"{"task":"bridge.describe","options":{"task":"work"},"callbackId":1}"#)
        let text = String(repeating: "x", count: 70_000)
        let tasks = isBroken ? "7" : #"[{"options":{"type":"null"},"result":{"title":"\#(text)"}}]"#
        bench.reply(0, #"{"errors":["\#(text)"],"tasks":\#(tasks)}"#)
        #expect(lane.uids == [Bench.daemonUID])
        #expect(client.read().isEmpty)
        lane.runNext()
        #expect(client.readOne()?["result"]?["options"] == (isBroken ? true : ["type": "null"]))
        var states: [JSON?] = []
        bench.instance.perform(.saveSessions, options: [:], timeout: nil) { states.append(try? $0.get()) }
        bench.reply(1, #"{"states":"\#(text)"}"#)
        #expect(states.isEmpty)
        lane.runNext()
        #expect(states == [["states": .string(text)]])
    }

    @Test("The daemon's own tasks have schemas of their options")
    func ownTasks() throws {
        let client = bench.client()
        for task in bench.runtime.tasks.all where task.provider is BridgeTasks && !task.isInternal {
            client.send(#"{"task":"bridge.describe","options":{"task":"\#(task.name)"},"callbackId":1}"#)
            #expect(client.readOne()?["result"]?["options"]?["type"] == "object", "\(task.name)")
        }
    }

    @Test("A plugin's calls end like others: unknown task or session, invalid options, deadline, cancel")
    func ends() {
        #expect(call("nope").outcomes == ["task.not_found"])
        #expect(call("work", "{").outcomes == ["options.invalid"])
        #expect(call("work", session: 99).outcomes == ["session.not_found"])
        let late = call("work", deadline: .after(.milliseconds(5)))
        bench.clock.advance(.milliseconds(5))
        #expect(late.outcomes == ["call.timeout"])
        let cancelled = call("work")
        bench.runtime.cancelPluginCall(cancelled.handle)
        bench.runtime.cancelPluginCall(cancelled.handle)
        #expect(cancelled.outcomes == ["call.cancelled"])
    }

    @Test("A call on behalf of a caller contains that caller, and ends with the caller's call")
    func parent() throws {
        let provider = bench.client(uid: 900)
        provider.send(#"{"task":"bridge.register","options":{"tasks":["ui.alert"]}}"#)
        let caller = bench.client(uid: 900)
        caller.send(#"{"task":"work","callbackId":1}"#)
        let outgoing = call("ui.alert", parent: bench.host.started[0].handle)
        let forwarded = try #require(provider.readOne())
        #expect(forwarded["caller"]?["session"] == .number(JSONNumber(caller.session.number)))
        #expect(forwarded["caller"]?["uid"] == 900)
        caller.send(#"{"cancel":1}"#)
        #expect(outgoing.outcomes == ["call.cancelled"])
        #expect(provider.readOne()?["cancel"] == forwarded["callbackId"])
        #expect(call("ui.alert", parent: bench.host.started[0].handle).outcomes == ["call.cancelled"])
    }

    @Test("A plugin cannot end another plugin's call or send its progress")
    func foreignCalls() {
        let otherHost = FakeHost()
        let other = bench.add("other", tasks: [TaskDescription(name: "theirs")], otherHost)
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1,"progress":true}"#)
        let handle = bench.host.started[0].handle
        Array("1".utf8).withUnsafeBytes {
            other.reply(handle, $0)
            other.progress(handle, $0)
        }
        other.fail(handle, BridgeError(.internal, "mine now"))
        #expect(client.read().isEmpty)
        bench.reply(0, "2")
        #expect(client.readOne() == ["callbackId": 1, "result": 2])
    }

    @Test("A plugin can set and remove the user of a session")
    func identify() {
        let client = bench.client()
        let number = client.session.number
        #expect(call("bridge.session.identify", #"{"session":\#(number),"user":"ann"}"#).outcomes == ["{}"])
        #expect(client.session.user == "ann")
        #expect(call("bridge.session.identify", #"{"session":\#(number),"user":null}"#).outcomes == ["{}"])
        #expect(client.session.user == nil)
        let long = String(repeating: "x", count: 257)
        let tooLong = call("bridge.session.identify", #"{"session":\#(number),"user":"\#(long)"}"#)
        #expect(tooLong.outcomes == ["options.invalid"])
        #expect(call("bridge.session.identify", #"{"session":99}"#).outcomes == ["session.not_found"])
    }

    @Test("A plugin can close a session: calls by it and to it end, it gets an event, and its connection closes")
    func closeSession() throws {
        let client = bench.client()
        let other = bench.client()
        client.send(#"{"task":"bridge.register","options":{"tasks":["scan"]}}"#)
        client.send(#"{"task":"bridge.subscribe","options":{"events":["*"]}}"#)
        client.send(#"{"task":"work","callbackId":"mine"}"#)
        other.send(#"{"task":"scan","callbackId":"theirs"}"#)
        _ = client.read()
        #expect(
            call("bridge.session.close", #"{"session":\#(client.session.number),"info":{"a":1}}"#).outcomes == ["{}"])
        let last = client.read()
        #expect(last.map { $0["callbackId"] } == ["mine", nil])
        #expect(last[0].errorCode == "call.cancelled")
        #expect(last[1] == ["event": "web.close", "data": ["info": ["a": 1]]])
        #expect(client.transport.isToBeClosed)
        #expect(other.readOne()?.errorCode == "provider.closed")
        other.send(#"{"task":"scan","callbackId":1}"#)
        #expect(other.readOne()?.errorCode == "task.not_found")
        bench.runtime.publish("x", data: nil)
        #expect(client.read().isEmpty)
    }

    @Test("On behalf of a session, a plugin can close another session if the policy permits it")
    func closeOnBehalf() throws {
        let caller = bench.client(uid: Bench.daemonUID)
        let other = bench.client()
        caller.send(#"{"task":"work","callbackId":1}"#)
        let parent = bench.host.started[0].handle
        let options = #"{"session":\#(other.session.number)}"#
        #expect(call("bridge.session.close", options, parent: parent).outcomes == ["{}"])
        #expect(other.transport.isToBeClosed)
    }

    @Test("A plugin is refused if its name or a task name is taken; the error names the owner")
    func takenNames() throws {
        let host = FakeHost()
        func add(_ name: String, _ task: String) throws {
            _ = try bench.runtime.add(
                PluginManifest(
                    name: name, version: "1", tasks: [TaskDescription(name: task)], events: [], workers: []),
                path: "/x.so", host: host)
        }
        let taken = #expect(throws: BridgeError.self) { try add("new", "work") }
        #expect(taken?.message.contains("worker") == true)
        #expect(throws: BridgeError.self) { try add("new", "bridge.ping") }
        #expect(throws: BridgeError.self) { try add("worker", "fresh") }
        try add("new", "fresh")
    }

    @Test("A plugin's work other than tasks ends once, also after its timeout")
    func lifecycle() {
        var results: [Result<JSON, BridgeError>] = []
        bench.instance.perform(.start, options: ["a": 1], timeout: .seconds(1)) { results.append($0) }
        #expect(bench.host.started[0].work == .start)
        #expect(bench.host.started[0].options == #"{"a":1}"#)
        bench.reply(0, "{}")
        bench.instance.perform(.stop, options: [:], timeout: .seconds(1)) { results.append($0) }
        bench.clock.advance(.seconds(1))
        bench.reply(1, "{}")
        #expect(results.count == 2)
        #expect(throws: Never.self) { try results[0].get() }
        #expect(throws: BridgeError.self) { try results[1].get() }
    }

    @Test("A result above the maximum message length is refused before it is parsed")
    func longResult() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        bench.reply(0, "no JSON" + String(repeating: " ", count: bench.runtime.limits.messageBytes))
        #expect(client.readOne()?.errorCode == "result.too_large")
    }

    @Test("Closing a plugin ends its calls and removes its tasks")
    func close() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        bench.runtime.close(bench.instance)
        #expect(client.readOne()?.errorCode == "plugin.unavailable")
        client.send(#"{"task":"work","callbackId":2}"#)
        #expect(client.readOne()?.errorCode == "task.not_found")
    }

    @Test("Draining starts no more calls, waits for calls in flight, and ends calls that hang")
    func draining() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        client.send(#"{"task":"work","callbackId":2}"#)
        var isDrained = false
        bench.runtime.drain { isDrained = true }
        client.send(#"{"task":"work","callbackId":3}"#)
        let refusal = client.readOne()
        #expect(refusal?["callbackId"] == 3)
        #expect(refusal?.errorCode == "daemon.stopping")
        #expect(refusal?["error"]?["data"]?["started"] == false)
        bench.reply(0, "1")
        #expect(!isDrained)
        bench.runtime.endCallsInFlight()
        #expect(isDrained)
        #expect(client.read().map(\.errorCode) == [nil, "daemon.stopping"])
        #expect(bench.host.cancelled.map(\.1) == [.shutdown])
    }
}
