import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("Interceptors")
struct InterceptorTests {
    let bench = Bench()

    // MARK: Decisions

    @Test("An interceptor gets the task and the options of a call, and can pass the call on unchanged")
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

    @Test("A call of a task without interceptors starts at once")
    func others() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"slow","callbackId":7}"#)
        #expect(bench.host.started.count == 1 && one.questions.isEmpty)
        #expect(bench.runtime.tasks.find("slow")?.interceptors == nil)
    }

    @Test("An interceptor can rewrite options; the task gets them as one line")
    func rewrite() {
        let one = FakeInterceptor(bench, "look", ["work"]) { _ in "{\"options\":{\"b\":\n2}}" }
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":7}"#)
        #expect(bench.host.started.map(\.options) == ["{\"b\": 2}"])
        bench.reply(0, "1")
        #expect(client.read().count == 1)
        #expect(one.report?["rewrote"] == 1)
    }

    @Test("Options are checked against the schema only after they were rewritten")
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

    @Test("An interceptor can answer a call; the task does not receive it")
    func answer() {
        let one = FakeInterceptor(bench, "look", ["work"]) { _ in "{\"result\":{\"known\":\n[1]}}" }
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":7}"#)
        #expect(client.read() == [["callbackId": 7, "result": ["known": [1]]]])
        #expect(bench.host.started.isEmpty)
        #expect(one.report?["answered"] == 1)
    }

    @Test("An interceptor can refuse by a decision or an error; the caller gets that error unchanged")
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

    @Test("An interceptor can redirect a call to another task, with the same or other options")
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

    @Test("The limit of a task's options also applies to rewritten and redirected options")
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

    @Test("A redirect to a task that does not exist is an error that names the interceptor")
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

    @Test("Several interceptors are asked one after the other, the last registered first")
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

    @Test("Tasks that are added later are intercepted, as are tasks of clients")
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

    @Test("The daemon's own tasks and private tasks are not intercepted")
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
}
