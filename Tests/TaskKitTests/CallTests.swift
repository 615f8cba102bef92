import CTaskPlugin
import TaskKit
import Testing

/// Uses everything that a call offers and returns what it found.
private struct Look: BridgeTask {
    static let name = "look"
    static let summary = "Uses what a call offers."

    struct Options: Codable, Sendable { var steps: Int? }
    struct Result: Codable, Sendable {
        var user: String?
        var client: String?
        var origin: String
        var session: SessionID
        var isTrusted: Bool
        var hasDeadline: Bool
        var isOneWay: Bool
    }

    func run(_ options: Options, _ call: Call) async throws -> Result {
        for step in 0..<(options.steps ?? 0) {
            call.reportProgress(["step": step])
            await Task.yield()
        }
        call.log.notice("looked")
        call.plugin.log.debug("at large")
        call.publish("look.done", ["ok": true])
        call.publish("look.done", 1, to: [3, 4], direct: true)
        call.publish("look.done", 2, to: [])
        return Result(
            user: call.caller.user, client: call.caller.client, origin: call.caller.origin,
            session: call.caller.session, isTrusted: call.caller.isTrusted,
            hasDeadline: call.deadline.map { $0 <= .now + .seconds(5) } == true
                && call.timeRemaining.map { $0 <= .seconds(5) } == true,
            isOneWay: call.isOneWay)
    }
}

@Suite("A call", .timeLimit(.minutes(20)))
struct CallTests {
    private let host = FakeHost(Plugin("looker", version: "1.0.0") { Look() })

    @Test("has its caller, its deadline and whether it is one-way")
    func caller() async {
        let caller = Caller(
            session: 9, uid: 1, gid: 2, pid: 3, origin: "https://a-longer-name.example.org", user: "ann",
            client: "tests",
            isTrusted: true)
        let handle = await host.onLoop {
            $0.request(
                .call(0), flags: TRESTLE_REQUEST_ONE_WAY, timeout: 5_000_000_000, caller: caller)
        }
        let expected: JSON = [
            "user": "ann", "client": "tests", "origin": "https://a-longer-name.example.org", "session": 9,
            "isTrusted": true, "hasDeadline": true, "isOneWay": true,
        ]
        #expect(await host.answer(to: handle) == .result(expected))
    }

    @Test("has the current user of a session that has logged in meanwhile")
    func callerChanges() async {
        for user in [nil, "ann", "bob", nil] {
            let caller = Caller(session: 9, uid: 1, gid: 2, pid: 3, user: user)
            let handle = await host.onLoop { $0.request(.call(0), caller: caller) }
            guard case .result(let result) = await host.answer(to: handle) else {
                Issue.record("no result")
                return
            }
            #expect(result["user"]?.stringValue == user)
        }
    }

    @Test("sends its progress in order, before its answer")
    func progress() async {
        let handle = await host.onLoop { $0.request(.call(0), #"{"steps": 3}"#, flags: TRESTLE_REQUEST_PROGRESS) }
        _ = await host.answer(to: handle)
        #expect(await host.onLoop { $0.progress[handle] } == [["step": 0], ["step": 1], ["step": 2]])
    }

    @Test("sends no progress that was not requested")
    func noProgress() async {
        let handle = await host.onLoop { $0.request(.call(0), #"{"steps": 3}"#) }
        _ = await host.answer(to: handle)
        #expect(await host.onLoop { $0.progress[handle] } == nil)
    }

    @Test("logs under its own handle, and its plugin under none")
    func log() async {
        let handle = await host.onLoop { $0.request(.call(0)) }
        _ = await host.answer(to: handle)
        #expect(
            await host.onLoop { $0.logLines } == [
                FakeHost.LogLine(level: 2, message: "looked", call: handle),
                FakeHost.LogLine(level: 4, message: "at large", call: 0),
            ])
    }

    @Test("sends events to all sessions, to some, and to none")
    func events() async {
        _ = await host.answer(.call(0))
        #expect(
            await host.onLoop { $0.events } == [
                FakeHost.Event(name: "look.done", data: ["ok": true], sessions: nil, flags: 0),
                FakeHost.Event(name: "look.done", data: 1, sessions: [3, 4], flags: TRESTLE_EVENT_DIRECT),
                FakeHost.Event(name: "look.done", data: 2, sessions: [], flags: 0),
            ])
    }
}
