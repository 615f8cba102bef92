import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("Tables in pages")
struct TableTests {
    let bench = Bench()
    let root: FakeClient

    init() {
        root = bench.client()
        bench.host.onStart = { [bench] started in
            if started.work == .describe { bench.reply(bench.host.started.count - 1, "{}") }
        }
    }

    private func call(_ client: FakeClient, _ task: String, _ options: JSON = [:], id: String = "c") -> JSON? {
        client.send(#"{"task":"\#(task)","options":\#(options.text),"callbackId":"\#(id)"}"#)
        return client.read().first { $0["callbackId"]?.stringValue == id }
    }

    /// Returns the pages of a table in order.
    private func pages(_ task: String, limit: Int? = nil) throws -> [JSON] {
        var pages: [JSON] = []
        var options: JSONObject = [:]
        options["limit"] = limit.map { .number(JSONNumber($0)) }
        repeat {
            let page = try #require(call(root, task, .object(options))?["result"], "\(task)")
            #expect(page.text.utf8.count <= bench.runtime.limits.messageBytes)
            pages.append(page)
            options["cursor"] = page["cursor"]
            try #require(pages.count < 10_000, "\(task) has no end")
        } while pages.last?["cursor"] != nil
        return pages
    }

    private func entries(_ task: String, _ list: String, limit: Int? = nil) throws -> [JSON] {
        try pages(task, limit: limit).flatMap { $0[list]?.arrayValue ?? [] }
    }

    /// Returns a session with the longest texts and the maximum numbers of tasks and subscriptions.
    private func fill(_ number: Int, uid: UInt32 = 0) -> FakeClient {
        let client = bench.client(uid: uid)
        func text(_ count: Int) -> JSON { .string(String(repeating: "x", count: count)) }
        let hello: JSON = [
            "client": text(256), "version": text(256), "userAgent": text(1_024),
            "page": ["url": text(4_096), "title": text(4_096)],
        ]
        #expect(call(client, "bridge.hello", hello)?["result"] != nil)
        let names = (0..<256).map { index -> JSON in
            let name = "t\(number).\(index)."
            return .string(name + String(repeating: "x", count: 128 - name.utf8.count))
        }
        #expect(call(client, "bridge.register", ["tasks": .array(names)])?["result"] != nil)
        #expect(call(client, "bridge.subscribe", ["events": .array(names)])?["result"] != nil)
        return client
    }

    // MARK: Complete tables

    @Test("Root gets all sessions, tasks and descriptions, also if many clients use the longest texts")
    func longTexts() throws {
        let clients = (0..<30).map { fill($0) }
        let sessions = try entries("bridge.sessions", "sessions")
        #expect(sessions.compactMap { $0["session"]?.int64Value } == (1...31).map { Int64($0) })
        #expect(sessions.allSatisfy { $0["session"] == 1 || $0["tasks"]?.arrayValue?.count == 256 })
        let all = bench.runtime.tasks.all.filter { !$0.isInternal }.map { JSON.string($0.name) }
        #expect(all.count > 30 * 256)
        #expect(try entries("bridge.tasks", "tasks").map { $0["name"] } == all)
        #expect(try entries("bridge.describe", "tasks").map { $0["name"] } == all)
        withExtendedLifetime(clients) {}
    }

    @Test("A page has the requested number of entries and continues after the previous one, also after removals")
    func limits() throws {
        var clients = (0..<200).map { _ in bench.client() }
        let first = try #require(call(root, "bridge.sessions", ["limit": 10])?["result"])
        #expect(first["sessions"]?.arrayValue?.compactMap { $0["session"]?.int64Value } == (1...10).map { Int64($0) })
        bench.runtime.hangUp(clients[8].session)
        bench.runtime.hangUp(clients[9].session)
        let second = call(root, "bridge.sessions", ["limit": 2, "cursor": first["cursor"] ?? nil])?["result"]
        #expect(second?["sessions"]?.arrayValue?.compactMap { $0["session"]?.int64Value } == [12, 13])
        #expect(try pages("bridge.sessions", limit: 128).map { $0["sessions"]?.arrayValue?.count } == [128, 71])
        clients = []
    }

    @Test("A small table is one page, without a cursor")
    func small() throws {
        let tables = [
            "bridge.tasks", "bridge.describe", "bridge.sessions", "bridge.calls", "bridge.status",
            "bridge.plugins", "bridge.metrics",
        ]
        for task in tables {
            let result = try #require(call(root, task)?["result"])
            #expect(result["cursor"] == nil, "\(task)")
            // Null as options is accepted: these tasks once had no options.
            if task != "bridge.describe" { #expect(call(root, task, nil)?["result"] != nil, "\(task)") }
        }
    }

    @Test(
        "An invalid limit, or a cursor of another table, is refused with the path of the option",
        arguments: [
            ("bridge.tasks", #"{"limit":0}"#, "$.limit"), ("bridge.sessions", #"{"limit":129}"#, "$.limit"),
            ("bridge.describe", #"{"limit":-1}"#, "$.limit"), ("bridge.sessions", #"{"cursor":"Echo"}"#, "$.cursor"),
            ("bridge.calls", #"{"cursor":""}"#, "$.cursor"), ("bridge.plugins", #"{"cursor":"-1"}"#, "$.cursor"),
            ("bridge.metrics", #"{"cursor":"9:Echo"}"#, "$.cursor"),
            ("bridge.metrics", #"{"cursor":"4:x"}"#, "$.cursor"),
            ("bridge.status", #"{"limit":1000}"#, "$.limit"), ("bridge.tasks", #"{"cursor":7}"#, "$.cursor"),
        ])
    func refused(task: String, options: String, path: String) throws {
        let error = call(root, task, try JSON(parsing: options))?["error"]
        #expect(error?["code"] == "options.invalid")
        #expect(error?["data"]?["path"]?.stringValue == path)
    }

    @Test("A page visits no more entries than its limit, including those that the caller may not see")
    func lookedAt() throws {
        let clients = (0..<4).map { fill($0) }
        var rule = PolicyRule(.allow, [.call], file: "/etc/trestle/policy.d/50-test.toml", line: 1)
        rule.names = ["bridge.tasks", "work"].compactMap { PolicyName($0) }
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, publicGroup: nil, rules: [rule]))
        let stranger = bench.client(uid: 5)
        var names: [JSON] = []
        var counts: [Int] = []
        var options: JSON = [:]
        while true {
            let page = try #require(call(stranger, "bridge.tasks", options)?["result"])
            names += page["tasks"]?.arrayValue ?? []
            counts.append(page["tasks"]?.arrayValue?.count ?? -1)
            guard let cursor = page["cursor"] else { break }
            options = ["cursor": cursor]
        }
        #expect(names.compactMap { $0["name"] } == ["bridge.tasks", "work"])
        #expect(counts.count == (bench.runtime.tasks.count + 127) / 128)
        #expect(counts.contains(0))
        withExtendedLifetime(clients) {}
    }

    // MARK: Descriptions

    @Test("Descriptions of the daemon's and plugins' tasks are cached, and renewed when interceptors change")
    func shownOnce() throws {
        let entry = try #require(bench.runtime.tasks.find("bridge.ping"))
        #expect(entry.shown.description == nil && entry.shown.method == nil)
        let first = try entries("bridge.describe", "tasks")
        _ = call(root, "rpc.discover")
        #expect(entry.shown.description != nil && entry.shown.method != nil)
        #expect(try entries("bridge.describe", "tasks") == first)
        let work = try #require(bench.runtime.tasks.find("work"))
        #expect(work.shown.description != nil)
        let description = InterceptorDescription(name: "guard", summary: "", tasks: ["work"])
        _ = bench.add("other", tasks: [], FakeHost(), interceptors: [description])
        #expect(work.shown.description == nil)
    }

    @Test("A document above the message length is refused; the error names bridge.describe instead")
    func discover() throws {
        #expect(call(root, "rpc.discover")?["result"]?["methods"] != nil)
        let schema = String(repeating: "x", count: 60_000)
        let clients = (0..<20).map { number -> FakeClient in
            let client = bench.client()
            let description: JSON = ["result": ["description": .string(schema)]]
            let options: JSON = [
                "tasks": [.string("t\(number)")], "descriptions": .object(["t\(number)": description]),
            ]
            #expect(call(client, "bridge.register", options)?["result"] != nil)
            return client
        }
        let error = call(root, "rpc.discover")?["error"]
        #expect(error?["code"] == "result.too_large")
        #expect(error?["message"]?.stringValue?.contains("bridge.describe") == true)
        #expect(try entries("bridge.describe", "tasks").count { $0["provider"] == "client" } == 20)
        withExtendedLifetime(clients) {}
    }

    @Test("A description above the message length is listed by its name only, and marked as cut")
    func cut() throws {
        let client = bench.client()
        let long = JSON.string(String(repeating: "x", count: 9_000))
        let options: JSON = ["tasks": ["long"], "descriptions": ["long": ["result": ["description": long]]]]
        #expect(call(client, "bridge.register", options)?["result"] != nil)
        var limits = RuntimeLimits()
        limits.messageBytes = 8_192
        bench.runtime.apply(limits)
        #expect(try entries("bridge.describe", "tasks").contains(["name": "long", "cut": true]))
    }

    @Test("A plugin above the message length is listed by its name only, and marked as cut")
    func cutPlugin() throws {
        let names = (0..<100).map { "\($0)" + String(repeating: "x", count: 100) }
        _ = bench.add("big", tasks: names.map { TaskDescription(name: $0) }, FakeHost())
        var limits = RuntimeLimits()
        limits.messageBytes = 8_192
        bench.runtime.apply(limits)
        #expect(try entries("bridge.plugins", "plugins").contains(["name": "big", "cut": true]))
    }

    // MARK: Calls

    @Test("Calls are listed in pages, the oldest first, and bridge.kill finds a call by its number")
    func calls() throws {
        let client = bench.client()
        for id in 0..<1_000 { client.send(#"{"task":"slow","callbackId":\#(id)}"#) }
        // Every second call ends.
        for index in stride(from: 0, to: 1_000, by: 2) { bench.reply(index, "1") }
        let listed = try entries("bridge.calls", "calls").filter { $0["task"] == "slow" }
        #expect(listed.compactMap { $0["callbackId"]?.int64Value } == stride(from: 1, to: 1_000, by: 2).map { $0 })
        _ = client.read()
        let number = try #require(listed[250]["call"])
        #expect(call(root, "bridge.kill", ["call": number])?["result"] == [:])
        #expect(client.readOne()?["callbackId"] == listed[250]["callbackId"])
        #expect(call(root, "bridge.kill", ["call": number])?.errorCode == "call.not_found")
        #expect(call(root, "bridge.kill", ["call": 0])?.errorCode == "call.not_found")
        #expect(call(root, "bridge.kill", ["call": 99_999_999])?.errorCode == "call.not_found")
    }

    // MARK: Metrics

    @Test("The texts of all pages of bridge.metrics form one document; bridge.status continues with tasks")
    func figures() throws {
        let provider = fill(0)
        let names = provider.session.registrations.sorted()
        for name in names { #expect(call(root, name, id: name) == nil) }
        let pages = try pages("bridge.metrics")
        #expect(pages.count > 1)
        let metrics = try OpenMetrics(pages.compactMap { $0["text"]?.stringValue }.joined())
        for name in names { #expect(metrics.value("trestle_calls_total", ["task": name]) == 1) }
        #expect(metrics.value("trestle_plugin_up", ["plugin": "worker"]) == 1)
        let status = try self.pages("bridge.status")
        #expect(status.count > 1 && status.dropFirst().allSatisfy { $0["version"] == nil })
        let called = status.flatMap { $0["tasks"]?.arrayValue ?? [] }.compactMap { $0["name"]?.stringValue }
        #expect(called.filter { $0.hasPrefix("t0.") } == names)
    }
}
