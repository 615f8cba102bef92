import CTaskPlugin
import Synchronization
import TaskKit
import Testing

/// The notes of a plugin's hooks.
private final class Notes: Sendable {
    private let list = Mutex<[String]>([])
    func add(_ note: String) { list.withLock { $0.append(note) } }
    var all: [String] { list.withLock { $0 } }
}

private struct Settings: Codable, Sendable {
    struct Store: Codable, Sendable { var path: String }
    var limit = 0
    var store: Store?
}

@Suite("A plugin's hooks", .timeLimit(.minutes(20)))
struct HookTests {
    private let notes: Notes
    private let host: FakeHost

    init() {
        let notes = Notes()
        self.notes = notes
        host = FakeHost(
            Plugin("hooked", version: "1.0.0")
                .configuration(
                    PluginConfiguration(Settings()),
                    check: { if $0.limit < 0 { throw BridgeError(.configurationInvalid, "The limit is negative.") } },
                    onChange: { notes.add("configured \($0.limit)") }
                )
                .onStart { context in
                    await Task.yield()
                    notes.add("started in \(context.stateDirectory) with \(context.launch.arguments)")
                }
                .onStart { context in
                    if context.launch.arguments.contains("fail") { throw BridgeError("hooked.failed", "As asked.") }
                    notes.add("ready")
                }
                .launchWorker("hooked.first", phase: .beforeListening) { context in
                    await Task.yield()
                    notes.add("first in \(context.stateDirectory)")
                }
                .launchWorker("hooked.second", phase: .afterListening, after: ["hooked.first"], required: false) { _ in
                    throw BridgeError("hooked.failed", "Not now.")
                }
                .onSession { change, caller in notes.add("\(change) \(caller.session) \(caller.user ?? "-")") }
                .onStop { notes.add("stopped") }
                .onStop {
                    await Task.yield()
                    notes.add("stopping on the loop: \(FakeHost.isLoopThread)")
                })
    }

    private let surroundings = #"{"stateDirectory": "/state", "launch": {"arguments": ["-v"]}, "more": 1}"#

    @Test("pass the configuration to the plugin")
    func configuration() async {
        #expect(await host.answer(.configure, #"{"limit": 3}"#) == .result([:]))
        #expect(notes.all == ["configured 3"])
    }

    @Test("refuse an unknown key of the configuration, and name the known keys")
    func unknownKey() async {
        let answer = await host.answer(.configure, #"{"limit": 3, "store": {"path": "x", "paht": "y"}}"#)
        guard case .error(let error) = answer else {
            Issue.record("no error: \(answer)")
            return
        }
        #expect(error.code == .configurationInvalid)
        #expect(error.data?["path"] == "$.store.paht")
        #expect(error.data?["known"] == ["path"])
        #expect(notes.all.isEmpty)
    }

    @Test("refuse a value of the configuration that does not fit or that the plugin's check refuses")
    func unfitValue() async {
        guard case .error(let unfit) = await host.answer(.configure, #"{"limit": "three"}"#),
            case .error(let unwanted) = await host.answer(.configure, #"{"limit": -3}"#)
        else {
            Issue.record("no error")
            return
        }
        #expect(unfit.code == .configurationInvalid)
        #expect(unfit.data?["path"] == "$.limit")
        #expect(unwanted == BridgeError(.configurationInvalid, "The limit is negative."))
        #expect(notes.all.isEmpty)
    }

    /// Returns a plugin whose section has a limit, and which records each section that it takes.
    private func bounded(reloadable: Bool) -> FakeHost {
        let notes = notes
        return FakeHost(
            Plugin("bounded", version: "1.0.0").configuration(
                PluginConfiguration(Settings()), reloadable: reloadable,
                check: { if $0.limit > 9 { throw BridgeError(.configurationInvalid, "The limit is too high.") } },
                onChange: { notes.add("took \($0.limit)") }))
    }

    @Test(
        "check a section at launch before it is kept, and at a reload without keeping it",
        arguments: [false, true])
    func checkedSection(reloadable: Bool) async {
        let host = bounded(reloadable: reloadable)
        let tooHigh = FakeHost.Answer.error(BridgeError(.configurationInvalid, "The limit is too high."))
        #expect(await host.answer(.configure, #"{"limit": 10}"#) == tooHigh)
        #expect(await host.answer(.reconfigure(takes: false), #"{"limit": 10}"#) == tooHigh)
        #expect(await host.answer(.reconfigure(takes: false), #"{"limit": 9}"#) == .result([:]))
        guard case .error(let unfit) = await host.answer(.reconfigure(takes: false), #"{"limit": "x"}"#) else {
            Issue.record("no error")
            return
        }
        #expect(unfit.data?["path"] == "$.limit")
        #expect(notes.all == [])
    }

    @Test("pass a section to a running plugin if it is reloadable and its check accepts the section")
    func takenSection() async {
        let host = bounded(reloadable: true)
        #expect(await host.answer(.configure, #"{"limit": 1}"#) == .result([:]))
        #expect(await host.answer(.reconfigure(takes: true), #"{"limit": 2}"#) == .result([:]))
        _ = await host.answer(.reconfigure(takes: true), #"{"limit": 10}"#)
        #expect(notes.all == ["took 1", "took 2"])
    }

    @Test("never pass a section to a running plugin that takes it only at its start")
    func keptSection() async {
        let host = bounded(reloadable: false)
        #expect(await host.answer(.reconfigure(takes: true), #"{"limit": 2}"#) == .result([:]))
        #expect(notes.all == [])
    }

    @Test("refuse every key if there is no configuration")
    func noConfiguration() async {
        let host = FakeHost(Plugin("plain", version: "1.0.0"))
        #expect(await host.answer(.configure) == .result([:]))
        guard case .error(let error) = await host.answer(.configure, #"{"a": 1}"#) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .configurationInvalid)
        #expect(error.data?["path"] == "$.a")
        #expect(await host.answer(.reconfigure(takes: false)) == .result([:]))
        guard case .error = await host.answer(.reconfigure(takes: false), #"{"a": 1}"#) else {
            Issue.record("no error at a reload")
            return
        }
    }

    @Test("start the plugin one after another, and answer when all are done")
    func start() async {
        #expect(await host.answer(.start, surroundings) == .result([:]))
        #expect(notes.all == [#"started in /state with ["-v"]"#, "ready"])
    }

    @Test("fail the start if they throw")
    func startFails() async {
        let answer = await host.answer(.start, #"{"stateDirectory": "/s", "launch": {"arguments": ["fail"]}}"#)
        #expect(answer == .error(BridgeError("hooked.failed", "As asked.")))
    }

    @Test("run the launch workers")
    func launch() async {
        #expect(await host.answer(.launch(0), surroundings) == .result([:]))
        #expect(await host.answer(.launch(1), surroundings) == .error(BridgeError("hooked.failed", "Not now.")))
        #expect(notes.all == ["first in /state"])
        guard case .error = await host.answer(.launch(2), surroundings) else {
            Issue.record("a launch worker that is not there ran")
            return
        }
    }

    @Test("are notified of sessions")
    func sessions() async {
        let caller = Caller(session: 8, uid: 1, gid: 1, pid: 1, user: "ann")
        await host.session(TRESTLE_SESSION_OPENED, Caller(session: 8, uid: 1, gid: 1, pid: 1))
        for change in [TRESTLE_SESSION_BACKGROUND, TRESTLE_SESSION_FOREGROUND, TRESTLE_SESSION_CLOSED, 99] {
            await host.session(change, caller)
        }
        #expect(notes.all == ["opened 8 -", "background 8 ann", "foreground 8 ann", "closed 8 ann"])
    }

    @Test("of a plugin without onSession do not wake it for sessions: its table has no such function")
    func noSessions() {
        #expect(host.plugin.pointee.session != nil)
        let other = FakeHost(Plugin("quiet", version: "1.0.0"))
        #expect(other.plugin.pointee.session == nil)
    }

    @Test("for the ends of sessions are called for no other change, and the table asks for nothing else")
    func sessionEnds() async {
        let host = FakeHost(
            Plugin("ending", version: "1.0.0").onSessionEnd { [notes] in notes.add("ended \($0.session)") })
        #expect(host.plugin.pointee.session_scope == UInt32(TRESTLE_SESSIONS_CALLERS))
        #expect(self.host.plugin.pointee.session_scope == UInt32(TRESTLE_SESSIONS_ALL))
        for change in [TRESTLE_SESSION_OPENED, TRESTLE_SESSION_BACKGROUND, TRESTLE_SESSION_CLOSED] {
            await host.session(change, Caller(session: 8, uid: 1, gid: 1, pid: 1))
        }
        #expect(notes.all == ["ended 8"])
    }

    @Test("stop the plugin in reverse order")
    func stop() async {
        #expect(await host.answer(.stop) == .result([:]))
        #expect(notes.all == ["stopping on the loop: true", "stopped"])
    }

    @Test("hand over the states of sessions, and restore the states that come back")
    func handover() async {
        let notes = notes
        let host = FakeHost(
            Plugin("keeper", version: "1.0.0").handover([Int].self) { sessions in
                await Task.yield()
                return sessions.contains(3) ? [3: [1, 2], 4: []] : [:]
            } restore: { states in
                await Task.yield()
                notes.add("\(states.sorted { $0.key < $1.key })")
                return states.keys.contains(9) ? [9] : []
            })
        let kept: JSON = ["states": ["3": [1, 2], "4": []]]
        #expect(await host.answer(.saveSessions, #"{"sessions": [3, 4, 5]}"#) == .result(kept))
        #expect(await host.answer(.saveSessions, #"{"sessions": [5]}"#) == .result(["states": [:]]))
        #expect(await host.answer(.restoreSessions, kept.text) == .result(["lost": []]))
        // A state of another version that this one cannot read loses only its own session.
        let other = #"{"states": {"9": [1], "10": "what?", "no number": [1]}, "later": 1}"#
        #expect(await host.answer(.restoreSessions, other) == .result(["lost": [10, 9]]))
        #expect(notes.all == ["[(key: 3, value: [1, 2]), (key: 4, value: [])]", "[(key: 9, value: [1])]"])
    }
}
