import BridgeJSON
import EchoTasks
import TaskKit
import TaskKitTesting
import Testing

/// The tasks of the test plugin.
private struct Shout: BridgeTask {
    static let name = "shout"
    static let summary = "Repeats a word, louder."
    struct Options: Codable, Sendable {
        var word: String
        var times: UInt8?
    }
    struct Result: Codable, Sendable { var said: String }

    func run(_ options: Options, _ call: Call) async throws -> Result {
        if options.word == "nothing" { throw BridgeError("shout.silent", "there is nothing to say") }
        if options.word == "too much" {
            throw BridgeError("shout.long", "much", data: .string(String(repeating: "x", count: 65_536)))
        }
        let times = Int(options.times ?? 1)
        for number in 0..<times { call.reportProgress(number) }
        return Result(said: String(repeating: options.word.uppercased(), count: times))
    }
}

private struct Measure: BridgeTask {
    static let name = "measure"
    static let summary = "Publishes figures from another thread."
    struct Options: Codable, Sendable {}
    struct Result: Codable, Sendable {}

    func run(_ options: Options, _ call: Call) async throws -> Result {
        try await call.blocking {
            call.plugin.gauge("queue", "What waits.", unit: .bytes).set(12)
            call.plugin.counter("made", "What was made.").add(3)
            call.plugin.gauge("No Name", "Is refused.").set(1)
        }
        return Result()
    }
}

private struct Wait: BridgeTask {
    static let name = "wait"
    static let summary = "Waits until it is cancelled."
    static let settings = TaskSettings(timeout: .unlimited)
    struct Options: Codable, Sendable {}
    struct Result: Codable, Sendable {}

    func run(_ options: Options, _ call: Call) async throws -> Result {
        try await Task.sleep(for: .seconds(3600))
        return Result()
    }
}

private struct Relay: BridgeTask {
    static let name = "relay"
    static let summary = "Calls another task on the caller's behalf."
    static let settings = TaskSettings(timeout: .unlimited)
    struct Options: Codable, Sendable {
        var task: String
        var options: JSON?
    }

    func run(_ options: Options, _ call: Call) async throws -> JSON {
        try await call.call(options.task, options.options ?? [:])
    }
}

private struct Drop: RawTask {
    static let name = "drop"
    static let summary = "Forgets to answer."

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {}
}

@Suite("A plugin in the daemon's process", .timeLimit(.minutes(20)))
struct TaskHostsTests {
    private func plugin() -> Plugin {
        Plugin("test", version: "1.0.0") {
            Shout()
            Wait()
            Relay()
            Drop()
            Measure()
        }
    }

    @Test("Metrics can be published from any thread; a metric with an invalid name is only logged")
    func figures() async throws {
        let bridge = try await TestBridge.start(plugin())
        let session = await bridge.session()
        for _ in 0..<2 { try await session.call("measure") }
        let metrics = try await session.call("bridge.status")["metrics"]
        #expect(
            metrics == [
                [
                    "plugin": "test", "name": "queue", "kind": "gauge", "value": 12, "unit": "bytes",
                    "help": "What waits.",
                ],
                [
                    "plugin": "test", "name": "made", "kind": "counter", "value": 6, "unit": nil,
                    "help": "What was made.",
                ],
            ])
        #expect(bridge.logLines().contains { $0.contains("a metric is not published: \"No Name\"") })
        await bridge.stop()
    }

    @Test("A typed task sends progress and a result")
    func typed() async throws {
        let bridge = try await TestBridge.start(plugin())
        let session = await bridge.session()
        let answer = try await session.callWithProgress("shout", ["word": "hey", "times": 2])
        #expect(answer.result == ["said": "HEYHEY"])
        #expect(answer.progress == [0, 1])
        await bridge.stop()
    }

    @Test("Invalid options are answered with an error that contains path, expected type and actual value")
    func invalidOptions() async throws {
        let bridge = try await TestBridge.start(plugin())
        let session = await bridge.session()
        let error = await #expect(throws: BridgeError.self) {
            try await session.call("shout", ["word": "x", "times": 300])
        }
        #expect(error?.code == .optionsInvalid)
        #expect(error?.data?["path"] == "$.times")
        #expect(error?.data?["expected"] == "an integer from 0 to 255")
        #expect(error?.data?["got"] == "number 300")
        await bridge.stop()
    }

    @Test("The caller gets an error if a task throws or drops its reply")
    func failures() async throws {
        let bridge = try await TestBridge.start(plugin())
        let session = await bridge.session()
        let thrown = await #expect(throws: BridgeError.self) { try await session.call("shout", ["word": "nothing"]) }
        #expect(thrown?.code == "shout.silent")
        let long = await #expect(throws: BridgeError.self) { try await session.call("shout", ["word": "too much"]) }
        #expect(long?.code == .replyInvalid)
        #expect(long?.message == "the plugin failed with an error of more than 65536 bytes")
        let dropped = await #expect(throws: BridgeError.self) { try await session.call("drop") }
        #expect(dropped?.code == .replyMissing)
        await bridge.stop()
    }

    @Test("A cancel reaches the task and the tasks that it called, also a task that a client provides")
    func cancel() async throws {
        let bridge = try await TestBridge.start(plugin())
        let provider = await bridge.session()
        let (reports, report) = AsyncStream.makeStream(of: String.self)
        try await provider.provide("ui.ask") { _ in
            report.yield("asked")
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                report.yield("cancelled")
            }
            return nil
        }
        let caller = await bridge.session()
        let id = await caller.begin("relay", ["task": "ui.ask"])
        var events = reports.makeAsyncIterator()
        #expect(await events.next() == "asked")
        await caller.cancel(id)
        let error = await #expect(throws: BridgeError.self) { try await caller.outcome(of: id) }
        #expect(error?.code == .callCancelled)
        #expect(await events.next() == "cancelled")
        await bridge.stop()
    }

    @Test("A deadline expires by the bridge's clock")
    func deadline() async throws {
        let bridge = try await TestBridge.start(plugin())
        let session = await bridge.session()
        let id = await session.begin("wait", timeout: .seconds(5))
        await bridge.advance(by: .seconds(5))
        let error = await #expect(throws: BridgeError.self) { try await session.outcome(of: id) }
        #expect(error?.code == .callTimeout)
        await bridge.stop()
    }

    @Test("A task that calls another task passes on its result and its error unchanged")
    func relayedErrors() async throws {
        let bridge = try await TestBridge.start(plugin(), .echo())
        let session = await bridge.session()
        #expect(try await session.call("relay", ["task": "Echo", "options": [1, 2]]) == [1, 2])
        let error = await #expect(throws: BridgeError.self) { try await session.call("relay", ["task": "none"]) }
        #expect(error?.code == .taskNotFound)
        await bridge.stop()
    }

    @Test("bridge.describe returns the schemas of a task's types")
    func describe() async throws {
        let bridge = try await TestBridge.start(plugin())
        let session = await bridge.session()
        let description = try await session.call("bridge.describe", ["task": "shout"])
        #expect(
            description["options"] == [
                "type": "object", "required": ["word"],
                "properties": [
                    "word": ["type": "string"],
                    "times": ["type": ["integer", "null"], "minimum": 0, "maximum": 255],
                ],
            ])
        #expect(description["plugin"] == "test")
        await bridge.stop()
    }

    @Test("A second plugin with a task of the same name is refused; the error names the first plugin")
    func takenName() async throws {
        let error = await #expect(throws: BridgeError.self) {
            try await TestBridge.start(
                .echo(), Plugin("other", version: "1") { Echoing() })
        }
        #expect(error?.message.contains("the plugin echo") == true)
    }

    private struct Echoing: RawTask {
        static let name = "Echo"
        static let summary = "Wants a name that is taken."

        func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) { reply.succeed(options) }
    }

    @Test("Echo returns its options unchanged")
    func echo() async throws {
        let bridge = try await TestBridge.start(.echo())
        let session = await bridge.session()
        for options: JSON in [
            nil, true, "text \u{0} 你好", [:], [1, ["a": nil]], .number(JSONNumber(text: "1.50e400")!),
        ] {
            #expect(try await session.call("Echo", options) == options)
        }
        await bridge.stop()
    }
}
