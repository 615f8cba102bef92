import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("A plugin's calls start and end in steps, for any number of waiting calls")
struct PluginQueueTests {
    let bench = Bench()
    let turns: FakeTurns
    let crash = BridgeError(.pluginCrashed, "it ended")

    init() { turns = FakeTurns(bench) }

    func send(_ client: FakeClient, _ task: String, _ ids: Range<Int>) {
        for id in ids { client.send(#"{"task":"\#(task)","options":\#(id),"callbackId":\#(id)}"#) }
    }

    private func successor(_ tasks: [TaskDescription]) throws -> (PluginInstance, FakeHost) {
        let host = FakeHost()
        let manifest = PluginManifest(name: "worker", version: "2.0", tasks: tasks, events: [], workers: [])
        return (
            try bench.runtime.candidate(manifest, path: "/plugins/worker.so", host: host, inPlaceOf: bench.instance),
            host
        )
    }

    // MARK: Visits of waiting calls

    @Test("After a pause, each waiting call is visited a limited number of times")
    func pause() {
        let count = 1_000
        bench.instance.pause(.noProcess)
        for _ in 0..<4 { send(bench.client(), "one", 0..<count) }
        for _ in 0..<4 { send(bench.client(), "work", 0..<count) }
        bench.instance.resume(.noProcess)
        #expect(bench.host.started.count == 4 * count + 1)
        #expect(bench.instance.waiting.visits <= 3 * 8 * count)
    }

    @Test("When a call of a task with concurrency 1 ends, only a few waiting calls are visited")
    func oneAtATime() {
        for _ in 0..<16 { send(bench.client(), "one", 0..<1_000) }
        // The first call of each session is visited when the first call ends.
        bench.reply(0, "0")
        for index in 1..<500 {
            let before = bench.instance.waiting.visits
            bench.reply(index, "0")
            #expect(bench.host.started.count == index + 2)
            #expect(bench.instance.waiting.visits - before <= 4)
        }
    }

    @Test("A call that ends while it waits leaves the queue, and the calls behind it continue")
    func cancelled() {
        let client = bench.client()
        send(client, "one", 0..<3)
        let other = bench.client()
        send(other, "one", 0..<1)
        client.send(#"{"cancel":1}"#)
        other.send(#"{"cancel":0}"#)
        bench.runtime.writeOutput()
        #expect(bench.instance.waitingCount == 1 && bench.instance.waitingSessionCount == 1)
        bench.reply(0, "0")
        #expect(bench.host.started.map(\.options) == ["0", "2"])
        #expect(bench.instance.waiting.isEmpty)
    }

    @Test("Sessions take turns at a task with concurrency 1, each in its own order")
    func turnsOfSessions() {
        let (first, second) = (bench.client(), bench.client())
        send(first, "one", 0..<3)
        send(second, "one", 10..<13)
        for index in 0..<6 { bench.reply(index, "0") }
        let options = bench.host.started.map(\.options)
        #expect(options.count == 6 && bench.instance.waiting.isEmpty)
        #expect(options.filter { $0.count == 1 } == ["0", "1", "2"])
        #expect(options.filter { $0.count == 2 } == ["10", "11", "12"])
        #expect(options.prefix(3).contains("10"))
    }

    // MARK: Steps

    @Test("When a process with many calls ends, other work runs in between, and each call ends once")
    func crashed() {
        let client = bench.client()
        send(client, "slow", 0..<1_000)
        turns.slow()
        bench.instance.crashed(crash, lost: bench.host.started.map(\.handle), isRestarting: true)
        let first = client.read().count
        #expect(first < 100)
        let other = bench.client()
        other.send(#"{"task":"bridge.ping","callbackId":1}"#)
        #expect(other.readOne()?["result"] != nil)
        // One call is cancelled meanwhile.
        client.send(#"{"cancel":998}"#)
        bench.instance.restarted()
        send(client, "work", 2_000..<2_001)
        #expect(turns.runJobs() > 5)
        let messages = client.read()
        #expect(messages.filter { $0.errorCode == "plugin.crashed" }.count + first == 999)
        #expect(messages.filter { $0.errorCode == "call.cancelled" }.count == 1)
        #expect(bench.instance.tasks.map(\.runningCount) == [1, 0, 0, 0])
        #expect(bench.runtime.calls.count == 1)
    }

    @Test("When a plugin is given up, its waiting calls end in steps, unless it restarts meanwhile")
    func givenUp() {
        let client = bench.client()
        bench.instance.pause(.noProcess)
        send(client, "work", 0..<1_000)
        turns.slow()
        bench.instance.crashed(crash, lost: [], isRestarting: false)
        let refused = client.read()
        #expect(!refused.isEmpty && refused.count < 100)
        #expect(refused.allSatisfy { $0.errorCode == "plugin.unavailable" })
        send(client, "work", 1_000..<1_001)
        #expect(client.readOne()?.errorCode == "plugin.unavailable")
        turns.runShare()
        let more = client.read().count
        #expect(more > 0)
        bench.instance.restarted()
        _ = turns.runJobs()
        #expect(bench.host.started.map(\.options) == ((refused.count + more)..<1_000).map(String.init))
    }

    @Test("After a pause, calls start in steps and in order, also calls that arrive meanwhile")
    func resumed() {
        let client = bench.client()
        bench.instance.pause(.unread)
        send(client, "work", 0..<500)
        turns.slow()
        bench.instance.resume(.unread)
        #expect(bench.host.started.count < 100)
        send(client, "work", 500..<501)
        client.send(#"{"cancel":499}"#)
        #expect(turns.runJobs() > 5)
        #expect(bench.host.started.map(\.options) == (0..<501).filter { $0 != 499 }.map(String.init))
    }

    @Test("Calls that have not started go to the plugin's successor, in order")
    func replacedMeanwhile() throws {
        let client = bench.client()
        bench.instance.pause(.unread)
        send(client, "work", 0..<300)
        send(client, "slow", 300..<310)
        turns.slow()
        bench.instance.resume(.unread)
        let begun = bench.host.started.count
        #expect(begun < 100)
        let (new, host) = try successor([TaskDescription(name: "work", optionBytes: .max)])
        try bench.runtime.replace(bench.instance, by: new)
        send(client, "work", 400..<401)
        _ = turns.runJobs()
        #expect(bench.host.started.count == begun)
        #expect(host.started.map(\.options) == (Array(begun..<300) + [400]).map(String.init))
        #expect(client.read().map(\.errorCode) == Array(repeating: "task.not_found", count: 10))
    }

    @Test("Draining ends each call once, also calls that end in steps after a crash")
    func drained() {
        let client = bench.client()
        send(client, "slow", 0..<500)
        turns.slow()
        bench.instance.crashed(crash, lost: bench.host.started.map(\.handle), isRestarting: true)
        var isDone = false
        bench.runtime.drain { isDone = true }
        #expect(!isDone)
        bench.runtime.endCallsInFlight()
        #expect(!isDone)
        bench.runtime.remove(bench.instance)
        _ = turns.runJobs()
        #expect(isDone)
        #expect(client.read().compactMap { $0["callbackId"]?.int64Value }.sorted() == Array(0..<500))
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("When the time for draining is over, calls end over several turns, each once")
    func drainedInSteps() {
        let client = bench.client()
        send(client, "slow", 0..<300)
        turns.slow()
        bench.runtime.drain {}
        bench.runtime.endCallsInFlight()
        #expect(bench.runtime.calls.count > 200)
        #expect(turns.runJobs() > 5)
        #expect(client.read().map(\.errorCode) == Array(repeating: "daemon.stopping", count: 300))
    }

    @Test("The calls of a closed plugin end over several turns, and the last end is reported")
    func closedInSteps() {
        let client = bench.client()
        send(client, "slow", 0..<300)
        turns.slow()
        var isClosed = false
        bench.runtime.close(bench.instance) { isClosed = true }
        #expect(bench.runtime.calls.count > 200)
        client.send(#"{"task":"slow","callbackId":"new"}"#)
        #expect(client.read().last?.errorCode == "task.not_found")
        #expect(!isClosed)
        #expect(turns.runJobs() > 5)
        #expect(isClosed && bench.runtime.calls.count == 0)
        bench.runtime.remove(bench.instance)
    }

    @Test(
        "Calls that wait for an interceptor move to the new plugin over several turns, or when it decides",
        arguments: [false, true])
    func successionInSteps(removesOld: Bool) throws {
        let interceptor = FakeInterceptor(bench, "looker", ["work", "slow"])
        let clients = (0..<200).map { _ in bench.client() }
        for (id, client) in clients.enumerated() { send(client, id.isMultiple(of: 2) ? "work" : "slow", id..<id + 1) }
        turns.slow()
        let (new, host) = try successor([TaskDescription(name: "work", optionBytes: .max)])
        try bench.runtime.replace(bench.instance, by: new)
        #expect(clients[199].read().isEmpty)
        // These calls have not been moved yet.
        interceptor.decide(198, #"{"pass":true}"#)
        interceptor.decide(199, #"{"pass":true}"#)
        #expect(clients[199].read().map(\.errorCode) == ["task.not_found"])
        if removesOld { bench.runtime.remove(bench.instance) }
        #expect(turns.runJobs() > 5)
        #expect(host.started.map(\.options) == ["198"])
        for id in 0..<198 where id.isMultiple(of: 2) { interceptor.decide(id, #"{"pass":true}"#) }
        _ = turns.runJobs()
        #expect(host.started.map(\.options) == (["198"] + (0..<99).map { "\($0 * 2)" }))
        for id in stride(from: 1, to: 199, by: 2) { #expect(clients[id].read().map(\.errorCode) == ["task.not_found"]) }
        #expect(bench.host.started.isEmpty)
    }

    @Test("Calls that waited for the names of their parameters start over several turns, in order")
    func describedInSteps() {
        let client = bench.client()
        for id in 0..<200 { client.send(#"{"jsonrpc":"2.0","method":"work","params":[\#(id)],"id":\#(id)}"#) }
        #expect(bench.host.started.map(\.work) == [.describe])
        turns.slow()
        bench.reply(0, #"{"tasks":[{"options":{"type":"object","properties":{"a":{}}}}]}"#)
        #expect(bench.host.started.count < 100)
        client.send(#"{"jsonrpc":"2.0","method":"work","params":[200],"id":200}"#)
        #expect(turns.runJobs() > 5)
        #expect(bench.host.started.dropFirst().map(\.options) == (0...200).map { #"{"a":\#($0)}"# })
    }

    @Test("One plugin derives its schemas in each turn, and bridge.describe answers after all of them")
    func schemasInSteps() {
        var plugins = [(bench.instance!, bench.host)]  // set by Bench.init
        for index in 0..<4 {
            let host = FakeHost()
            plugins.append((bench.add("p\(index)", tasks: [TaskDescription(name: "t\(index)")], host), host))
        }
        let client = bench.client()
        let asked = { plugins.count { $0.1.started.contains { $0.work == .describe } } }
        // Each plugin needs longer than a share to derive its schemas.
        for (_, host) in plugins { host.onStart = { [bench] _ in bench.clock.advance(.milliseconds(3)) } }
        client.send(#"{"task":"bridge.describe","callbackId":1}"#)
        #expect(asked() == 1)
        turns.runShare()
        #expect(asked() == 2)
        _ = turns.runJobs()
        #expect(asked() == 5)
        #expect(client.read().isEmpty)
        for (plugin, host) in plugins {
            Array("{}".utf8).withUnsafeBytes { plugin.reply(host.started[0].handle, $0) }
        }
        _ = turns.runJobs()
        #expect(client.readOne()?["result"]?["tasks"]?.arrayValue?.contains { $0["name"] == "t3" } == true)
    }

    // MARK: Sessions

    @Test("A restarted plugin is notified of all sessions in steps, before its first call")
    func news() {
        let clients = (0..<200).map { _ in bench.client() }
        bench.instance.crashed(crash, lost: [], isRestarting: true)
        let heard = bench.host.changes.count
        turns.slow()
        bench.instance.restarted()
        #expect(bench.host.changes.count < heard + 100)
        clients[199].send(#"{"task":"work","callbackId":1}"#)
        let late = bench.client()
        bench.runtime.hangUp(clients[150].session)
        #expect(bench.host.started.isEmpty)
        var heardBefore: [(SessionChange, UInt64)] = []
        bench.host.onStart = { [bench] _ in heardBefore = bench.host.changes }
        #expect(turns.runJobs() > 3)
        #expect(bench.host.started.count == 1)
        let news = heardBefore.dropFirst(heard)
        #expect(news.filter { $0.0 == .opened }.map(\.1).sorted() == (1...201).map(UInt64.init))
        #expect(late.session.number == 201)
        let ended = news.filter { $0.1 == clients[150].session.number }.map(\.0)
        #expect(ended == [.opened, .closed])
    }
}
