import TaskKit
import TaskKitTesting
import Testing

@testable import CloseWebTasks

@Suite("closeWeb", .timeLimit(.minutes(20)))
struct CloseWebTaskTests {
    private func withBridge(_ body: (TestBridge, TestSession) async throws -> Void) async throws {
        let bridge = try await TestBridge.start(.closeWeb())
        try await body(bridge, await bridge.session())
        await bridge.stop()
    }

    private func error(_ session: TestSession, _ options: JSON) async -> BridgeError? {
        do {
            try await session.call("closeWeb", options)
            return nil
        } catch {
            return error as? BridgeError
        }
    }

    private func number(of session: TestSession) async -> JSON { .number(JSONNumber(await session.number)) }

    @Test("The plugin passes its own check")
    func conformance() throws {
        try Plugin.closeWeb().check()
    }

    @Test("A page that closes itself gets the answer, then the event, then the end")
    func ownSession() async throws {
        try await withBridge { bridge, other in
            try await other.subscribe("session.closed")
            let page = await bridge.session()
            let number = await number(of: page)
            let result = try await page.call("closeWeb", ["info": ["why": "done"]])
            #expect(result == ["session": number])
            let event = await page.nextEvent()
            #expect(event.name == "web.close" && event.data == ["info": ["why": "done"]])
            #expect(await other.nextEvent().data["session"] == number)
            #expect(await page.isClosed)
        }
    }

    @Test("No client can publish the event that closes a session")
    func reservedEvent() async throws {
        try await withBridge { bridge, session in
            try await session.subscribe("web.*")
            let other = await bridge.session()
            let error = await #expect(throws: BridgeError.self) {
                try await other.call("bridge.publish", ["event": "web.close", "data": ["info": nil]])
            }
            #expect(error?.code == .optionsInvalid)
            try await other.call("bridge.publish", ["event": "web.closed"])
            #expect(await session.nextEvent().name == "web.closed")
        }
    }

    @Test("A page may name its own session")
    func ownNumber() async throws {
        try await withBridge { bridge, _ in
            let page = await bridge.session()
            let number = await number(of: page)
            let result = try await page.call("closeWeb", ["session": number])
            #expect(result == ["session": number])
            #expect(await page.nextEvent().data == ["info": nil])
        }
    }

    @Test("Another session gets the event and is closed, and the caller gets the answer")
    func anotherSession() async throws {
        try await withBridge { bridge, page in
            let other = await bridge.session()
            try await page.subscribe("session.closed")
            let number = await number(of: other)
            let result = try await page.call("closeWeb", ["session": number, "info": "bye"])
            #expect(result == ["session": number])
            let event = await other.nextEvent()
            #expect(event.name == "web.close" && event.data == ["info": "bye"])
            #expect(await page.nextEvent().data["session"] == number)
            #expect(await other.isClosed)
            #expect(await !page.isClosed)
        }
    }

    @Test("A session that does not exist or was closed cannot be closed")
    func noSession() async throws {
        try await withBridge { bridge, page in
            #expect(await error(page, ["session": 4711])?.code == .sessionNotFound)
            let other = await bridge.session()
            let number = await number(of: other)
            try await page.call("closeWeb", ["session": number])
            #expect(await error(page, ["session": number])?.code == .sessionNotFound)
        }
    }

    @Test(
        "An invalid session number is refused with its path",
        arguments: [
            #"{"session":"7"}"#, #"{"session":-1}"#, #"{"session":0}"#, #"{"session":1.5}"#, #"{"session":{}}"#,
        ])
    func invalidOptions(text: String) async throws {
        try await withBridge { _, page in
            let error = await error(page, try JSON(parsing: text))
            #expect(error?.code == .optionsInvalid)
            #expect(error?.data?["path"]?.stringValue == "$.session")
            #expect(await !page.isClosed)
        }
    }

    @Test("Two concurrent calls for the same session are both answered without an error")
    func twice() async throws {
        try await withBridge { bridge, page in
            let other = await bridge.session()
            let number = await number(of: other)
            try await page.subscribe("session.closed")
            await other.send(line: #"[{"task":"closeWeb","callbackId":1},{"task":"closeWeb","callbackId":2}]"#)
            for id: Int64 in [1, 2] {
                let result = try await other.outcome(of: id)
                #expect(result == ["session": number])
            }
            #expect(await page.nextEvent().data["session"] == number)
            #expect(await error(page, ["session": number])?.code == .sessionNotFound)
            #expect(!bridge.logLines().contains { $0.contains("was not closed") })
        }
    }
}
