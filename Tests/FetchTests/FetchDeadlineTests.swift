import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite(
    "Timeouts of http.fetch", .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"),
    .timeLimit(.minutes(20)))
struct FetchDeadlineTests {
    private static let timeout = Duration.seconds(3)
    /// Does not answer `/`. Answers `/started` once a request for `/` has arrived, and `/ended` once its connection is
    /// closed.
    private static let script: JSON = [
        "/": [["closing": "/closed"], ["hang": true]],
        "/started": .array([["wait": "/"]] + (Script.response("").arrayValue ?? [])),
        "/ended": .array([["wait": "/closed"]] + (Script.response("").arrayValue ?? [])),
    ]

    /// Returns the error of a call whose time passes.
    private static func error(_ call: Int64, _ session: TestSession, _ bridge: TestBridge) async -> BridgeError? {
        // The daemon itself would end the call later.
        await bridge.advance(by: timeout - FetchDeadline.margin)
        return await #expect(throws: BridgeError.self) { try await session.outcome(of: call) }
    }

    @Test("The error states that the request was sent but not answered, and the connection is closed")
    func waiting() async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            let call = await session.begin("http.fetch", ["url": server.url("/")], timeout: Self.timeout)
            try await stage.fetch(server.url("/started"))
            let error = await Self.error(call, session, stage.bridge)
            #expect(error?.code == .callTimeout && error?.isTransient == true)
            #expect(error?.data == ["phase": "waiting", "started": true])
            try await stage.fetch(server.url("/ended"))
        }
    }

    @Test("The error states that the fetch was queued and nothing was sent")
    func queued() async throws {
        let one: JSON = ["private_networks": ["127.0.0.0/8"], "transfers": 1]
        try await CachingBridge.with(Self.script, configuration: one) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            let first = await session.begin("http.fetch", ["url": server.url("/")], timeout: .seconds(600))
            let second = await session.begin("http.fetch", ["url": server.url("/2")], timeout: Self.timeout)
            let error = await Self.error(second, session, stage.bridge)
            #expect(error?.code == .callTimeout && error?.data == ["phase": "queued", "started": false])
            await session.cancel(first)
            await #expect(throws: BridgeError.self) { try await session.outcome(of: first) }
        }
    }

    @Test("A fetch that is cancelled in time does not report a timeout")
    func cancelled() async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            let call = await session.begin("http.fetch", ["url": server.url("/")], timeout: .seconds(600))
            try await stage.fetch(server.url("/started"))
            await session.cancel(call)
            let error = await #expect(throws: BridgeError.self) { try await session.outcome(of: call) }
            #expect(error?.code == .callCancelled)
            try await stage.fetch(server.url("/ended"))
        }
    }
}
