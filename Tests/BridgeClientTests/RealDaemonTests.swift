import BridgeClient
import BridgeJSON
import EventLoop
import TaskRuntime
import Testing

/// The client against the daemon's server and runtime.
@Suite(.timeLimit(.minutes(20))) @LoopActor struct RealDaemonTests {
    @Test("The daemon greets the client, lists sessions and refuses unknown tasks")
    func greets() async throws {
        try await withDaemon { daemon in
            let client = try await Bridge.connectOnce(to: daemon.path, as: "tester", version: "1.2")
            #expect(client.daemon?.version == "9.9")
            let sessions = try await client.callJSON("bridge.sessions")
            #expect(sessions["sessions"]?[0]?["client"] == "tester")
            let failure = await error { () async throws(BridgeError) in _ = try await client.callJSON("no.such") }
            #expect(failure?.code == .taskNotFound)
            await client.close()
        }
    }

    @Test("A table of several pages is returned whole, both lists and texts")
    func pages() async throws {
        var limits = RuntimeLimits()
        limits.messageBytes = 16_384
        try await withDaemon(limits: limits) { daemon in
            let client = try await Bridge.connectOnce(to: daemon.path)
            let names = (0..<200).map { "page.\(1000 + $0)" }
            for name in names { try await client.registerJSON(name) { _, _ in nil } }
            let tables: [(String, JSONObject)] = [("bridge.tasks", [:]), ("bridge.describe", ["limit": 7])]
            for (task, options) in tables {
                let first = try await client.callJSON(task, .object(options))
                #expect(first["cursor"] != nil, "\(task): one page")
                let table = try await client.callPages(task, options, list: "tasks")
                let listed = (table["tasks"]?.arrayValue ?? []).map { $0["name"]?.stringValue ?? "" }
                #expect(listed.filter { $0.hasPrefix("page.") } == names)
                #expect(listed == listed.sorted() && listed.contains("bridge.ping") && table["cursor"] == nil)
            }
            let first = try await client.callJSON("bridge.metrics")
            #expect(first["cursor"] != nil)
            let text = try await client.callPages("bridge.metrics", list: "text")["text"]?.stringValue ?? ""
            // The TYPE line of a family occurs once, wherever a page ends.
            let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
            #expect(text.hasPrefix("# TYPE ") && text.hasSuffix("\n# EOF\n") && Set(types).count == types.count)
            await client.close()
        }
    }

    @Test("A released server serves its connected clients until they disconnect")
    func abandoned() async throws {
        try await withDaemon { daemon in
            let client = try await Bridge.connectOnce(to: daemon.path)
            daemon.abandon()
            let sessions = try await client.callJSON("bridge.sessions")
            #expect(sessions["sessions"]?[0] != nil)
            await client.close()
        }
    }

    @Test("One client calls a task of another: progress, result, cancel")
    func provides() async throws {
        try await withDaemon { daemon in
            let provider = try await Bridge.connectOnce(to: daemon.path)
            let (cancelled, confirm) = AsyncStream<Void>.makeStream()
            let registration = try await provider.registerJSON("work") { options, call in
                for number in 0..<3 { call.reportProgress(number) }
                guard options == "forever" else { return options }
                do {
                    try await Task.sleep(for: .seconds(3_600))
                } catch {
                    confirm.yield()
                }
                return nil
            }
            let caller = try await Bridge.connectOnce(to: daemon.path)
            let stream = try await caller.progressJSON("work", ["n": 1])
            var seen: [JSON] = []
            for await value in stream { seen.append(value) }
            #expect(seen == [0, 1, 2])
            #expect(try await stream.result == ["n": 1])

            let endless = try await caller.progressJSON("work", "forever")
            for await value in endless where value == 2 { break }
            await endless.cancel()
            for await _ in cancelled { break }
            try await registration.unregister()
            let gone = await error { () async throws(BridgeError) in _ = try await caller.callJSON("work") }
            #expect(gone?.code == .taskNotFound)
            await caller.close()
            await provider.close()
        }
    }

    @Test("Events that one client publishes reach another, until it unsubscribes")
    func events() async throws {
        try await withDaemon { daemon in
            let listener = try await Bridge.connectOnce(to: daemon.path)
            let publisher = try await Bridge.connectOnce(to: daemon.path)
            let events = try await listener.subscribe(to: "page.*")
            for number in 0..<100 {
                try await publisher.publish("page.shown", number)
            }
            var seen: [JSON] = []
            for try await event in events {
                seen.append(event.data)
                if seen.count == 100 { break }
            }
            #expect(seen == (0..<100).map { .number(JSONNumber($0)) })
            await events.end()
            let sessions = try await listener.callJSON("bridge.sessions")
            #expect(sessions["sessions"]?[0]?["subscriptions"] == [])
            await publisher.close()
            await listener.close()
        }
    }

    @Test("Concurrent calls of many Swift tasks each get their own result")
    func many() async throws {
        try await withDaemon { daemon in
            let provider = try await Bridge.connectOnce(to: daemon.path)
            try await provider.registerJSON("echo") { options, _ in options }
            let caller = try await Bridge.connectOnce(to: daemon.path)
            let tasks = (0..<500).map { number in
                Task.detached { try await caller.callJSON("echo", .number(JSONNumber(number))) }
            }
            for (number, task) in tasks.enumerated() {
                #expect(try await task.value == .number(JSONNumber(number)))
            }
            await caller.close()
            await provider.close()
        }
    }
}
