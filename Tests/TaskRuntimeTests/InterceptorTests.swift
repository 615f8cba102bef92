import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

/// A plugin with one interceptor, whose decisions are the test's.
final class FakeInterceptor {
    let host = FakeHost()
    let bench: Bench
    private(set) var instance: PluginInstance! = nil  // set before init returns
    /// - Parameter decision: decides each question at once; nil: they wait for ``decide(_:_:)``.
    init(
        _ bench: Bench, _ name: String, _ tasks: [String], onFailure: InterceptorFailure = .refuse,
        decision: ((JSON) -> String)? = nil
    ) {
        self.bench = bench
        let described = InterceptorDescription(
            name: "\(name).all", summary: "Looks at calls.", tasks: tasks, onFailure: onFailure)
        instance = bench.add(name, tasks: [], host, interceptors: [described])
        guard let decision else { return }
        host.onStart = { [instance] started in
            let question = (try? JSON(parsing: started.options)) ?? .null
            Array(decision(question).utf8).withUnsafeBytes { instance?.reply(started.handle, $0) }
        }
    }

    /// The questions so far.
    var questions: [JSON] { host.started.map { (try? JSON(parsing: $0.options)) ?? .null } }

    func decide(_ index: Int, _ decision: String) {
        Array(decision.utf8).withUnsafeBytes { instance.reply(host.started[index].handle, $0) }
    }

    func fail(_ index: Int, _ error: BridgeError) { instance.fail(host.started[index].handle, error) }

    /// Calls a task while a question is open, on its behalf or in the plugin's own name; returns the outcome.
    func call(_ task: String, _ options: String = "{}", behind question: Int?) -> Outcomes {
        let outcomes = Outcomes()
        Array(task.utf8).withUnsafeBytes { name in
            (Array(options.utf8) + repeatElement(0, count: 64)).withUnsafeBytes { text in
                _ = bench.runtime.call(
                    PluginCall(
                        parent: question.map { host.started[$0].handle }, task: name,
                        options: UnsafeRawBufferPointer(rebasing: text[..<options.utf8.count]), session: nil,
                        deadline: .standard, onProgress: nil
                    ) { outcome in
                        switch outcome {
                        case .result(let result): outcomes.all.append(String(decoding: result, as: UTF8.self))
                        case .failure(let error): outcomes.all.append(error.code.rawValue)
                        }
                    }, by: instance)
            }
        }
        return outcomes
    }

    final class Outcomes { var all: [String] = [] }

    /// What `bridge.status` says of it.
    var report: JSON? {
        let client = bench.client()
        client.send(#"{"task":"bridge.status","callbackId":1}"#)
        return client.readOne()?["result"]?["interceptors"]?.arrayValue?.first {
            $0["plugin"]?.stringValue == instance.name
        }
    }
}

@Suite("Interceptors")
struct InterceptorTests {
    let bench = Bench()

    // MARK: What they decide

    @Test("One is shown the call, with task, options and caller, and passes it on as it came")
    func pass() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client(uid: 900)
        client.send(#"{"task":"work","options":{"a": [1]},"callbackId":7}"#)
        #expect(one.questions == [["interceptor": "look.all", "task": "work", "options": ["a": [1]]]])
        #expect(bench.host.started.isEmpty)
        one.decide(0, #"{"pass":true}"#)
        #expect(bench.host.started.map(\.options) == [#"{"a": [1]}"#])
        bench.reply(0, "5")
        #expect(client.read() == [["callbackId": 7, "result": 5]])
        #expect(one.report?["asked"] == 1 && one.report?["passed"] == 1)
    }

    @Test("A call of a task that none of them is for goes to it at once")
    func others() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"slow","callbackId":7}"#)
        #expect(bench.host.started.count == 1 && one.questions.isEmpty)
        #expect(bench.runtime.tasks.find("slow")?.interceptors == nil)
    }

    @Test("It rewrites options; what the task gets is one line")
    func rewrite() {
        let one = FakeInterceptor(bench, "look", ["work"]) { _ in "{\"options\":{\"b\":\n2}}" }
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":7}"#)
        #expect(bench.host.started.map(\.options) == ["{\"b\": 2}"])
        bench.reply(0, "1")
        #expect(client.read().count == 1)
        #expect(one.report?["rewrote"] == 1)
    }

    @Test("Rewritten options are checked as the caller's are, and only those that arrive")
    func checked() {
        let schema: JSON = ["type": "object", "required": ["n"]]
        let bench = Bench(extraTasks: [TaskDescription(name: "strict", schemas: TaskSchemas(options: schema))])
        let one = FakeInterceptor(bench, "look", ["strict"]) {
            $0["options"] == [:] ? #"{"options":{"n":1}}"# : #"{"options":{}}"#
        }
        let client = bench.client()
        client.send(#"{"task":"strict","callbackId":1}"#)
        #expect(bench.host.started.map(\.options) == [#"{"n":1}"#])
        client.send(#"{"task":"strict","options":{"n":1},"callbackId":2}"#)
        #expect(client.readOne()?.errorCode == "options.invalid")
        #expect(one.questions.count == 2 && bench.host.started.count == 1)
    }

    @Test("It answers: the task never hears of the call")
    func answer() {
        let one = FakeInterceptor(bench, "look", ["work"]) { _ in "{\"result\":{\"known\":\n[1]}}" }
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":7}"#)
        #expect(client.read() == [["callbackId": 7, "result": ["known": [1]]]])
        #expect(bench.host.started.isEmpty)
        #expect(one.report?["answered"] == 1)
    }

    @Test("It refuses, by a decision or by failing on purpose: the caller gets that error, untouched")
    func refuse() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        for id in 1...3 { client.send(#"{"task":"work","callbackId":\#(id)}"#) }
        one.decide(
            0, #"{"error":{"code":"house.closed","message":"Come back tomorrow.","data":{"a":1},"retryAfter":5}}"#)
        one.fail(1, BridgeError("house.closed", "It is closed."))
        one.decide(2, #"{"error":{"code":"plugin.unavailable","message":"Meant so."}}"#)
        #expect(
            client.read().map { $0["error"] } == [
                ["code": "house.closed", "message": "Come back tomorrow.", "data": ["a": 1], "retryAfter": 5],
                ["code": "house.closed", "message": "It is closed."],
                ["code": "plugin.unavailable", "message": "Meant so."],
            ])
        #expect(one.report?["refused"] == 3 && one.report?["failed"] == 0)
    }

    @Test("It redirects: the call becomes one of the other task, with its own options or others")
    func redirect() {
        let one = FakeInterceptor(bench, "look", ["work"]) {
            $0["options"] == 1 ? #"{"task":"slow"}"# : #"{"task":"slow","options":[3]}"#
        }
        let client = bench.client()
        client.send(#"{"task":"work","options":1,"callbackId":1}"#)
        client.send(#"{"task":"work","options":2,"callbackId":2}"#)
        #expect(bench.host.started.map(\.work) == [.task(2), .task(2)])
        #expect(bench.host.started.map(\.options) == ["1", "[3]"])
        bench.reply(1, "\"b\"")
        bench.reply(0, "\"a\"")
        #expect(client.read() == [["callbackId": 2, "result": "b"], ["callbackId": 1, "result": "a"]])
        #expect(one.report?["redirected"] == 2)
        client.send(#"{"task":"bridge.status","callbackId":3}"#)
        let tasks = client.readOne()?["result"]?["tasks"]?.arrayValue ?? []
        for name in ["work", "slow"] {
            let task = tasks.first { $0["name"] == .string(name) }
            #expect(task?["calls"] == 2 && task?["inFlight"] == 0 && task?["errors"] == 0, "\(name)")
        }
    }

    @Test("Options that it makes longer, or takes to another task, are no longer than the task takes")
    func lengthOfOptions() {
        let long = "\"" + String(repeating: "x", count: 70_000) + "\""
        let one = FakeInterceptor(bench, "look", ["work", "slow"]) {
            if $0["task"] == "work" { return #"{"task":"slow"}"# }
            return $0["options"] == 1 ? #"{"options":\#(long)}"# : #"{"pass":true}"#
        }
        let client = bench.client()
        client.send(#"{"task":"work","options":\#(long),"callbackId":1}"#)
        client.send(#"{"task":"slow","options":1,"callbackId":2}"#)
        client.send(#"{"task":"slow","options":2,"callbackId":3}"#)
        #expect(client.read().map(\.errorCode) == ["options.invalid", "options.invalid"])
        #expect(bench.host.started.map(\.options) == ["2"])
        #expect(bench.instance.waitingCount == 0 && bench.runtime.calls.count == 1)
        #expect(one.report?["redirected"] == 1)
    }

    @Test("A redirect to a task that does not exist, or that the caller may not call, says who redirected")
    func badRedirect() {
        let bench = Bench()
        _ = FakeInterceptor(bench, "look", ["work"]) {
            .init($0["options"] == 1 ? #"{"task":"nope"}"# : #"{"task":"bridge.inner"}"#)
        }
        let client = bench.client()
        client.send(#"{"task":"work","options":1,"callbackId":1}"#)
        let error = client.readOne()?["error"]
        #expect(error?["code"] == "task.not_found")
        #expect(error?["data"] == ["interceptor": "look.all", "task": "nope"])
        #expect(
            error?["message"]?.stringValue?.contains("the interceptor look.all of the plugin look redirected") == true)
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("Several are asked one after the other, the one that was registered last first")
    func several() {
        let first = FakeInterceptor(bench, "first", ["wo*"])
        let second = FakeInterceptor(bench, "second", ["*"])
        let client = bench.client()
        client.send(#"{"task":"work","options":1,"callbackId":1}"#)
        #expect(first.questions.isEmpty)
        second.decide(0, #"{"options":2}"#)
        #expect(first.questions.first?["options"] == 2)
        first.decide(0, #"{"options":3}"#)
        #expect(bench.host.started.map(\.options) == ["3"])
        client.send(#"{"task":"bridge.describe","options":{"task":"work"},"callbackId":2}"#)
        bench.reply(1, "{}")
        let described = client.read().last?["result"]?["interceptors"]
        #expect(described?.arrayValue?.compactMap { $0["name"]?.stringValue } == ["second.all", "first.all"])
        #expect(
            described?[1]
                == ["name": "first.all", "plugin": "first", "summary": "Looks at calls.", "onFailure": "refuse"])
    }

    @Test("Tasks that come later are intercepted, too, and a client's")
    func laterTasks() throws {
        let one = FakeInterceptor(bench, "look", ["scan", "late"])
        let provider = bench.client()
        provider.send(#"{"task":"bridge.register","options":{"tasks":["scan"]},"callbackId":0}"#)
        _ = provider.read()
        let client = bench.client()
        client.send(#"{"task":"scan","options":1,"callbackId":1}"#)
        one.decide(0, "{\"options\":[\n2]}")
        let forwarded = try #require(provider.readOne())
        #expect(forwarded["options"] == [2])
        provider.send(#"{"callbackId":\#(forwarded["callbackId"]?.text ?? ""),"result":"done"}"#)
        #expect(client.read() == [["callbackId": 1, "result": "done"]])

        let host = FakeHost()
        _ = bench.add("other", tasks: [TaskDescription(name: "late")], host)
        client.send(#"{"task":"late","callbackId":2}"#)
        one.decide(1, #"{"pass":true}"#)
        #expect(host.started.count == 1)

        client.send(#"{"task":"scan","callbackId":3}"#)
        provider.send(#"{"task":"bridge.unregister","options":{"tasks":["scan"]}}"#)
        one.decide(2, #"{"pass":true}"#)
        #expect(client.readOne()?.errorCode == "task.not_found")
    }

    @Test("The daemon's own tasks and private ones are shown to none")
    func hidden() {
        let bench = Bench(extraTasks: [TaskDescription(name: "secret", isPrivate: true)])
        let one = FakeInterceptor(bench, "look", ["*"])
        let client = bench.client()
        for task in ["bridge.ping", "bridge.plugins", "rpc.discover", "secret"] {
            client.send(#"{"task":"\#(task)","callbackId":"\#(task)"}"#)
        }
        #expect(one.questions.isEmpty)
        #expect(bench.host.started.filter { $0.work == .task(4) }.count == 1)
    }

    // MARK: One call, one callback

    @Test("A second decision is dropped, and counted")
    func twice() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":7}"#)
        one.decide(0, #"{"pass":true}"#)
        one.decide(0, #"{"result":1}"#)
        #expect(client.read().isEmpty)
        #expect(bench.runtime.statistics.droppedReplies == 1)
        bench.reply(0, "2")
        #expect(client.read() == [["callbackId": 7, "result": 2]])
    }

    @Test(
        "What is no decision is the interceptor's failure, and says what is wrong",
        arguments: [
            ("{}", "it has none of pass, options, task, result and error"),
            (#"{"pass":true,"result":1}"#, "it has several of"), (#"{"pass":false}"#, "pass is not true"),
            (#"{"pass":1}"#, "pass is not true"), (#"{"task":5}"#, "task is not the name of one"),
            (#"{"task":""}"#, "task is not the name of one"), (#"{"error":"no"}"#, "error is no object"),
            (#"{"error":{"code":"a"}}"#, "error is no object"),
            (#"{"error":{"message":"\#(String(repeating: "b", count: 65_536))"}}"#, "error has more than 65536"),
            (#"{"task":"\#(String(repeating: "b", count: 65_536))"}"#, "task is not the name of one"),
            (#"{"options":1,"extra":2}"#, "the member \"extra\""),
            (#"{"options":1,"options":2}"#, "stands there twice"), ("[1]", "it is an array, and no object"),
            ("null", "it is null, and no object"), ("", "there is no JSON value"),
            (#"{"result":"#, "a value was expected"), ("{\"result\":\"\u{1}\"}", "raw control character"),
            (#"{"task":"\#(String(repeating: "x", count: 65_536))"}"#, "task is not the name of one"),
            (
                #"{"error":{"code":"a","message":"\#(String(repeating: "x", count: 65_536))"}}"#,
                "error has more than 65536 bytes"
            ),
            (#"{"result":1,"options":2}"#, "several"), (#"{"p\u0061ss":true}"#, "is none of a decision"),
        ])
    func garbage(decision: String, reason: String) {
        let one = FakeInterceptor(bench, "look", ["work"]) { _ in decision }
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":7}"#)
        let error = client.readOne()?["error"]
        #expect(error?["code"] == "reply.invalid")
        #expect(error?["message"]?.stringValue?.contains(reason) == true, "\(error?["message"]?.text ?? "")")
        #expect(error?["data"]?["interceptor"] == "look.all")
        #expect(one.report?["failed"] == 1)
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("A decision of more members than one has is refused, and is not read to its end")
    func members() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        let many = (0..<100_000).map { "\"k\($0 + 100_000)\":0" }.joined(separator: ",")
        func decide(_ decision: [UInt8]) {
            client.send(#"{"task":"work","callbackId":7}"#)
            decision.withUnsafeBytes { one.instance.reply(one.host.started[one.host.started.count - 1].handle, $0) }
        }
        let refused = Array("{\(many)}".utf8)
        let result = Array("{\"result\":{\(many)}}".utf8)
        let (dear, usual) = (cpuTime { decide(refused) }, cpuTime { decide(result) })
        #expect(dear / usual < 1)
        decide(refused)
        let error = client.read().last?["error"]
        #expect(error?["message"]?.stringValue?.contains("it has more than 2 members") == true, "\(error?.text ?? "")")
    }

    @Test(
        "Decisions of random bytes and of cut and mixed good ones end the call once each",
        arguments: 0..<40 as Range<UInt64>)
    func mutated(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let good = [
            #"{"pass":true}"#, #"{"options":{"a":[1,2]}}"#, #"{"task":"slow","options":[]}"#, #"{"result":"x"}"#,
            #"{"error":{"code":"a.b","message":"c"}}"#,
        ]
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        for id in 0..<50 {
            client.send(#"{"task":"work","callbackId":\#(id)}"#)
            var bytes = Array(good[Int.random(in: good.indices, using: &generator)].utf8)
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            bytes.withUnsafeBytes { one.instance.reply(one.host.started[id].handle, $0) }
            if let last = bench.host.started.last {
                Array("1".utf8).withUnsafeBytes { bench.instance.reply(last.handle, $0) }
            }
            #expect(client.read().filter { $0["callbackId"]?.int64Value == Int64(id) }.count == 1)
        }
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("Calls that are sent to and fro between tasks come to an end")
    func loops() {
        let there = FakeInterceptor(bench, "there", ["work"]) { _ in #"{"task":"slow"}"# }
        let back = FakeInterceptor(bench, "back", ["slow"]) { _ in #"{"task":"work"}"# }
        let itself = FakeInterceptor(bench, "itself", ["work"]) { _ in #"{"task":"work"}"# }
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        #expect(bench.host.started.map(\.work) == [.task(0)])
        for one in [there, back, itself] { #expect(one.questions.count == 1) }
        bench.reply(0, "1")
        #expect(client.read() == [["callbackId": 1, "result": 1]])
    }

    // MARK: Calls that an interceptor makes

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

    // MARK: Failures

    @Test(
        "Where one fails, the call ends with the failure, or goes on without, as the interceptor said",
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
            error?["message"]
                == "the interceptor strict.all of the plugin strict failed, and work is not called without it: it fell over"
        )
        #expect(error?["data"]?["signal"] == 11 && error?["data"]?["interceptor"] == "strict.all")
        #expect(error?["transient"] == true)
        #expect(bench.host.started.map(\.options) == ["6"])
        #expect(strict.report?["failed"] == 1 && lax.report?["failed"] == 1)
    }

    @Test("While its process is started again, calls wait for one that must be asked, and pass by one that need not")
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

    @Test("A process that ends while it decides loses the question, once")
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

    @Test("A plugin that stops is asked no more; what it was asked ends as its failure says")
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

    @Test("A plugin whose task is asked about may stop: its calls end")
    func taskStopped() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        bench.runtime.close(bench.instance)
        #expect(client.readOne()?.errorCode == "plugin.unavailable")
        one.decide(0, #"{"pass":true}"#)
        #expect(bench.host.started.isEmpty && bench.runtime.calls.count == 0)
    }

    @Test("The daemon drains: a call that is asked about is waited for, and goes on")
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

    // MARK: Order

    @Test("A session's calls to a plugin begin in the order in which they came, whatever is decided first")
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

    @Test("Calls that are answered, or end, hold up none behind them")
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

    @Test("What an interceptor calls to decide waits behind none of the calls that wait for it")
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

    // MARK: Which tasks

    @Test("A plugin may say when it has started which tasks its interceptors are for")
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
        "A manifest with an interceptor that makes no sense is refused",
        arguments: [
            (#"{"name":"","summary":"a","tasks":[]}"#, "has no name"),
            (#"{"name":"a","summary":"a","tasks":["*b"]}"#, "expected the name of a task"),
            (#"{"name":"a","summary":"a","tasks":["b"],"onFailure":"sometimes"}"#, "onFailure"),
            (#"{"name":"a","tasks":["b"]}"#, "summary"), (#"{"name":"a","summary":"a"}"#, "tasks"),
            (#"{"name":"a","summary":"a","tasks":[]},{"name":"a","summary":"a","tasks":[]}"#, "have one name"),
        ])
    func manifests(interceptors: String, reason: String) throws {
        let text = #"{"name":"p","version":"1","tasks":[],"interceptors":[\#(interceptors)]}"#
        let error = #expect(throws: BridgeError.self) { try PluginManifest(JSON(parsing: text)) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    // MARK: Explaining itself

    @Test("The traffic shows who was asked and what was decided; the question itself is no call of anybody's")
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

    @Test("bridge.calls shows who has the call in hand, and one call only")
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

    // MARK: The law

    @Test("Exactly one callback each, whatever interceptors decide and when", arguments: 0..<40 as Range<UInt64>)
    func law(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let interceptors = [
            FakeInterceptor(bench, "a", ["work", "one"]), FakeInterceptor(bench, "b", ["*"], onFailure: .pass),
        ]
        let decisions = [
            #"{"pass":true}"#, #"{"pass":true}"#, #"{"options":5}"#, #"{"task":"work"}"#, #"{"task":"one"}"#,
            #"{"task":"quick","options":1}"#, #"{"result":1}"#, #"{"error":{"code":"x.y","message":"z"}}"#, "{}",
        ]
        let client = bench.client()
        var sent: Set<Int64> = []
        var ended: [Int64: Int] = [:]
        for step in 0..<400 {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0..<4:
                let task = ["work", "one", "quick", "slow"].randomElement(using: &generator) ?? "work"
                client.send(
                    #"{"task":"\#(task)","callbackId":\#(step),"timeout":\#(Int.random(in: 1...300, using: &generator))}"#
                )
                sent.insert(Int64(step))
            case 4..<8:
                let one = interceptors[Int.random(in: 0...1, using: &generator)]
                guard let index = one.host.started.indices.randomElement(using: &generator) else { continue }
                one.decide(index, decisions.randomElement(using: &generator) ?? "")
            case 8: bench.clock.advance(.milliseconds(Int64.random(in: 0...40, using: &generator)))
            case 9: client.send(#"{"cancel":\#(Int.random(in: 0...step, using: &generator))}"#)
            case 10 where Int.random(in: 0..<8, using: &generator) == 0:
                let one = interceptors[Int.random(in: 0...1, using: &generator)]
                one.instance.crashed(
                    BridgeError(.pluginCrashed, "gone"), lost: one.host.started.map(\.handle), isRestarting: true)
                one.instance.restarted()
            default:
                guard let index = bench.host.started.indices.randomElement(using: &generator) else { continue }
                bench.reply(index, "1")
            }
            if Bool.random(using: &generator) { bench.runtime.writeOutput() }
            for message in client.read() { ended[message["callbackId"]?.int64Value ?? -1, default: 0] += 1 }
        }
        bench.clock.advance(.seconds(1000))
        bench.runtime.writeOutput()
        for message in client.read() { ended[message["callbackId"]?.int64Value ?? -1, default: 0] += 1 }
        #expect(Set(ended.keys) == sent)
        #expect(ended.values.allSatisfy { $0 == 1 })
        #expect(bench.runtime.calls.count == 0 && bench.runtime.calls.clientCallCount == 0)
        #expect(bench.instance.waitingCount == 0)
        for task in bench.runtime.tasks.all { #expect(task.statistics.inFlight == 0, "\(task.name)") }
        for one in interceptors { #expect(one.instance.interceptors[0].entry.statistics.inFlight == 0) }
    }
}
