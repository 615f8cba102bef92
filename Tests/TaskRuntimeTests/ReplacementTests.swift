import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("Replacement of plugins")
struct ReplacementTests {
    let bench = Bench()

    func successor(_ tasks: [TaskDescription], named name: String = "worker") throws -> (
        PluginInstance, FakeHost
    ) {
        let host = FakeHost()
        let manifest = PluginManifest(name: name, version: "2.0", tasks: tasks, events: [], workers: [])
        return (
            try bench.runtime.candidate(manifest, path: "/plugins/\(name).so", host: host, inPlaceOf: bench.instance),
            host
        )
    }

    private func answer(_ instance: PluginInstance, _ host: FakeHost, _ index: Int, _ result: String) {
        Array(result.utf8).withUnsafeBytes { instance.reply(host.started[index].handle, $0) }
    }

    @Test("The old plugin finishes its started calls; waiting and later calls start in the new one, in order")
    func waiting() throws {
        let client = bench.client()
        for id in 1...3 { client.send(#"{"task":"one","options":\#(id),"callbackId":\#(id)}"#) }
        client.send(#"{"task":"work","options":4,"callbackId":4}"#)
        let (new, host) = try successor([TaskDescription(name: "one", concurrency: 1), TaskDescription(name: "work")])
        try bench.runtime.replace(bench.instance, by: new)
        client.send(#"{"task":"work","options":5,"callbackId":5}"#)
        #expect(bench.host.started.map(\.options) == ["1"])
        #expect(host.started.map(\.options) == ["2"])
        answer(new, host, 0, "2")
        #expect(host.started.map(\.options) == ["2", "3", "4", "5"])
        bench.reply(0, "1")
        for index in 1...3 { answer(new, host, index, "\(index + 2)") }
        #expect(client.read().map { $0["result"] } == [2, 1, 3, 4, 5])
        bench.runtime.remove(bench.instance)
        let client2 = bench.client()
        client2.send(#"{"task":"bridge.status","callbackId":1}"#)
        let tasks = client2.readOne()?["result"]?["tasks"]?.arrayValue ?? []
        for (name, calls) in [("one", 3), ("work", 2)] {
            let task = tasks.first { $0["name"]?.stringValue == name }
            #expect(task?["calls"]?.int64Value == Int64(calls), "\(name)")
            #expect(task?["inFlight"] == 0)
        }
    }

    @Test("A waiting call of a task that the new plugin does not have ends with an error, not started")
    func goneTask() throws {
        let client = bench.client()
        client.send(#"{"task":"one","callbackId":1}"#)
        client.send(#"{"task":"one","callbackId":2}"#)
        let (new, _) = try successor([TaskDescription(name: "work"), TaskDescription(name: "more")])
        try bench.runtime.replace(bench.instance, by: new)
        let refused = client.readOne()
        #expect(refused?["callbackId"] == 2)
        #expect(refused?.errorCode == "task.not_found")
        #expect(refused?["error"]?["data"] == ["started": false])
        client.send(#"{"task":"one","callbackId":3}"#)
        #expect(client.readOne()?.errorCode == "task.not_found")
        client.send(#"{"task":"more","callbackId":4}"#)
        #expect(client.read().isEmpty)
        bench.reply(0, "1")
        #expect(client.readOne()?["result"] == 1)
    }

    @Test("Waiting options that are longer than the new plugin accepts are refused")
    func lengthOfOptions() throws {
        let bench = Bench(extraTasks: [TaskDescription(name: "big", concurrency: 1, optionBytes: .max)])
        let client = bench.client()
        let long = "\"" + String(repeating: "x", count: 70_000) + "\""
        for (id, options) in [(1, "1"), (2, long), (3, "3")] {
            client.send(#"{"task":"big","options":\#(options),"callbackId":\#(id)}"#)
        }
        let host = FakeHost()
        let manifest = PluginManifest(
            name: "worker", version: "2.0", tasks: [TaskDescription(name: "big")], events: [], workers: [])
        let new = try bench.runtime.candidate(manifest, path: "/plugins/2.so", host: host, inPlaceOf: bench.instance)
        try bench.runtime.replace(bench.instance, by: new)
        let refused = client.readOne()
        #expect(refused?["callbackId"] == 2 && refused?.errorCode == "options.invalid")
        #expect(host.started.map(\.options) == ["3"])
    }

    @Test("A candidate may have the names of the plugin that it replaces, but of no other")
    func names() throws {
        _ = bench.add("other", tasks: [TaskDescription(name: "taken")], FakeHost())
        #expect(throws: BridgeError.self) { try successor([TaskDescription(name: "taken")]) }
        #expect(throws: BridgeError.self) { try successor([TaskDescription(name: "bridge.ping")]) }
        #expect(throws: BridgeError.self) { try successor([], named: "other") }
        #expect(bench.runtime.plugins.count == 2)
        _ = try successor([TaskDescription(name: "work")])
        #expect(bench.runtime.plugins.count == 2)
    }

    @Test("The new plugin is notified of existing sessions, and the old one is not notified any more")
    func sessions() throws {
        let client = bench.client()
        let (new, host) = try successor([])
        try bench.runtime.replace(bench.instance, by: new)
        #expect(host.changes.map(\.0) == [.opened])
        #expect(host.changes.map(\.1) == [client.session.number])
        let heard = bench.host.changes.count
        bench.runtime.hangUp(client.session)
        #expect(host.changes.map(\.0) == [.opened, .closed])
        #expect(bench.host.changes.count == heard)
    }

    @Test("A retired plugin finishes waiting and running calls, gets no more, and is then idle")
    func retired() {
        let client = bench.client()
        for id in 1...2 { client.send(#"{"task":"one","options":\#(id),"callbackId":\#(id)}"#) }
        bench.runtime.retire(bench.instance)
        var isIdle = false
        bench.runtime.whenIdle(bench.instance, within: .seconds(5)) { isIdle = true }
        client.send(#"{"task":"one","callbackId":3}"#)
        #expect(client.readOne()?.errorCode == "task.not_found")
        bench.reply(0, "1")
        #expect(!isIdle)
        bench.reply(1, "2")
        #expect(isIdle)
        #expect(client.read().map { $0["result"] } == [1, 2])
    }

    @Test("A plugin is idle only after it has finished the work of cancelled calls")
    func abandoned() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        client.send(#"{"cancel":1}"#)
        #expect(client.readOne()?.errorCode == "call.cancelled")
        var isIdle = false
        bench.runtime.whenIdle(bench.instance, within: .seconds(5)) { isIdle = true }
        #expect(!isIdle)
        bench.reply(0, "1")
        #expect(isIdle)
    }

    @Test("Calls wait until every reason for a pause has ended; a paused plugin without work is idle")
    func pauses() {
        let client = bench.client()
        bench.instance.pause(.unread)
        bench.instance.pause(.handover)
        client.send(#"{"task":"work","callbackId":1}"#)
        var isIdle = false
        bench.runtime.whenIdle(bench.instance, within: .seconds(5)) { isIdle = true }
        #expect(isIdle)
        bench.instance.resume(.unread)
        #expect(bench.host.started.isEmpty)
        bench.instance.resume(.handover)
        #expect(bench.host.started.count == 1)
    }

    @Test(
        "plugin.started is published for a new plugin, plugin.stopped only if no other replaces it")
    func events() throws {
        let client = bench.client()
        client.send(#"{"task":"bridge.subscribe","options":{"events":["plugin.*"]}}"#)
        let (new, _) = try successor([])
        try bench.runtime.replace(bench.instance, by: new)
        bench.runtime.remove(bench.instance)
        #expect(client.read() == [["event": "plugin.started", "data": ["name": "worker", "version": "2.0"]]])
        bench.runtime.retire(new)
        bench.runtime.remove(new)
        #expect(client.read() == [["event": "plugin.stopped", "data": ["name": "worker", "version": "2.0"]]])
    }

    @Test(
        "A new plugin is refused if a client has registered one of its tasks meanwhile; nothing changes"
    )
    func takenMeanwhile() throws {
        let (new, _) = try successor([TaskDescription(name: "work"), TaskDescription(name: "scan")])
        let client = bench.client()
        client.send(#"{"task":"bridge.register","options":{"tasks":["scan"]},"callbackId":1}"#)
        #expect(client.readOne()?["result"] == ["tasks": ["scan"]])
        let refusal = #expect(throws: BridgeError.self) { try bench.runtime.replace(bench.instance, by: new) }
        #expect(refusal?.code == .pluginUnavailable && refusal?.message.contains("scan") == true)
        client.send(#"{"task":"work","callbackId":2}"#)
        #expect(bench.host.started.count == 1)
        let other = try bench.runtime.add(
            PluginManifest(name: "other", version: "1", tasks: [], events: [], workers: []), path: "/o.so",
            host: FakeHost())
        try bench.runtime.open(other)
    }

    @Test("A plugin whose process has ended since its start does not take over")
    func deadMeanwhile() throws {
        let (new, _) = try successor([TaskDescription(name: "work")])
        new.crashed(BridgeError(.pluginCrashed, "it ended"), lost: [], isRestarting: false)
        #expect(throws: BridgeError.self) { try bench.runtime.replace(bench.instance, by: new) }
        bench.client().send(#"{"task":"work","callbackId":2}"#)
        #expect(bench.host.started.count == 1)
    }

    @Test("The daemon's requests to a plugin do not wait behind calls, and end with the plugin")
    func askedItself() throws {
        let calls = FakeInterceptor(bench, "caller", [])
        bench.instance.pause(.handover)
        let waiting = calls.call("work", behind: nil)
        var ends: [Result<JSON, BridgeError>] = []
        bench.instance.perform(.saveSessions, options: [:], timeout: nil) { ends.append($0) }
        #expect(bench.host.started.map(\.work) == [.saveSessions] && waiting.all.isEmpty)
        let handle = bench.host.started[0].handle
        bench.runtime.remove(bench.instance)
        #expect(ends.count == 1 && failure(ends[0]) == .pluginUnavailable)
        // Its process reports the end a little later.
        bench.instance.workEnded([handle], BridgeError(.pluginCrashed, "it ended"))
        #expect(ends.count == 1)
        #expect(waiting.all == ["plugin.unavailable"])
    }

    private func failure(_ result: Result<JSON, BridgeError>) -> ErrorCode? {
        guard case .failure(let error) = result else { return nil }
        return error.code
    }

    @Test("The options of a waiting call are checked with the new plugin's schema")
    func otherOptions() throws {
        let client = bench.client()
        client.send(#"{"task":"one","callbackId":1}"#)
        client.send(#"{"task":"one","options":{"who":1},"callbackId":2}"#)
        let schemas = TaskSchemas(options: ["type": "object", "properties": ["who": ["type": "string"]]])
        let (new, host) = try successor([TaskDescription(name: "one", schemas: schemas)])
        try bench.runtime.replace(bench.instance, by: new)
        #expect(client.readOne()?.errorCode == "options.invalid" && host.started.isEmpty)
    }

    @Test("A plugin's own call that waits for an interceptor goes to the new plugin")
    func ownCallAskedAbout() throws {
        let looker = FakeInterceptor(bench, "looker", ["work"])
        let caller = FakeInterceptor(bench, "caller", [])
        let outcomes = caller.call("work", behind: nil)
        let (new, host) = try successor([TaskDescription(name: "work")])
        try bench.runtime.replace(bench.instance, by: new)
        bench.runtime.remove(bench.instance)
        looker.decide(0, #"{"pass":true}"#)
        #expect(host.started.count == 1)
        answer(new, host, 0, "1")
        #expect(outcomes.all == ["1"])
    }

    @Test("Positional parameters get their names from the old plugin's description, and go to the new one")
    func positional() throws {
        let client = bench.client()
        client.send(#"{"jsonrpc":"2.0","method":"work","params":[1],"id":1}"#)
        #expect(bench.host.started.map(\.work) == [.describe])
        let (new, host) = try successor([TaskDescription(name: "work")])
        try bench.runtime.replace(bench.instance, by: new)
        bench.reply(0, #"{"tasks":[{"name":"work","options":{"type":"object","properties":{"a":{}}}}]}"#)
        #expect(host.started.map(\.options) == [#"{"a":1}"#])
    }

    // MARK: Permissions

    @Test("Only root and the daemon's user may load, unload or reload plugins")
    func permission() {
        var asked: [PluginChange] = []
        bench.runtime.onPluginChange = { change, call in
            asked.append(change)
            bench.runtime.answer(call, .success([:]))
        }
        let lines = [
            #"{"task":"bridge.plugin.load","options":{"path":"/x.so"},"callbackId":1}"#,
            #"{"task":"bridge.plugin.unload","options":{"name":"worker"},"callbackId":2}"#,
            #"{"task":"bridge.plugin.reload","options":{"name":"worker"},"callbackId":3}"#,
        ]
        let stranger = bench.client(uid: 1234)
        for line in lines { stranger.send(line) }
        #expect(stranger.read().map(\.errorCode) == Array(repeating: "permission.denied", count: 3))
        #expect(asked.isEmpty)
        for uid in [0, Bench.daemonUID] {
            let client = bench.client(uid: uid)
            for line in lines { client.send(line) }
            #expect(client.read().map { $0["result"] } == [[:], [:], [:]])
        }
        #expect(
            asked == [.load(path: "/x.so"), .unload(name: "worker"), .reload(name: "worker", path: nil)]
                + asked.prefix(3))
    }
}
