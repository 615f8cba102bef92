import CTaskPlugin
import Synchronization
import TaskKit
import Testing

/// Decides as its options specify.
private struct Look: Interceptor {
    static let name = "look.all"
    static let summary = "Looks at calls."
    static let onFailure = InterceptorFailure.pass

    var tasks: [String] { patterns.withLock { $0 } }
    let patterns: Patterns

    private struct Strange: Error {}
    private struct Endless: Encodable, Sendable { var value = Double.infinity }

    func intercept(_ call: InterceptedCall) async throws -> Decision {
        switch try call.options["do"]?.stringValue {
        case "rewrite": return .rewrite(["task": .string(call.task)] as JSON)
        case "redirect": return .redirect(to: "other")
        case "redirect with": return .redirect(to: "other", options: [1, 2])
        case "answer": return .answer("an answer")
        case "answer raw": return .answer(raw: Array(#"{"a": 1.50}"#.utf8))
        case "refuse":
            throw BridgeError("look.refused", "No.", data: ["a": 1], isTransient: true, retryAfter: .seconds(2))
        case "cancel": throw CancellationError()
        case "fail": throw Strange()
        case "endless": return .answer(Endless())
        case "wait":
            try await Task.sleep(for: .seconds(3600))
            return .pass
        case "proceed":
            let result: JSON = try await call.proceed()
            return .answer(["kept": result] as JSON)
        case "bridge":
            let result: Int = try await call.call("other", [1])
            return .answer(result)
        case "raw": return .answer(String(decoding: call.rawOptions, as: UTF8.self))
        case "return":
            call.log.info(
                "\(call.task) \(call.session ?? 0) \(call.isOneWay) \(call.caller.uid) \(call.hasTimeLeft)")
            call.question.reportProgress(5)
            return .pass
        default: return .pass
        }
    }
}

private final class Patterns: Sendable {
    private let all = Mutex(["first", "se*"])
    func withLock<T: Sendable>(_ body: (inout sending [String]) -> T) -> T { all.withLock { body(&$0) } }
}

private struct Section: Codable, Sendable { var tasks: [String]? }

@Suite("An interceptor", .timeLimit(.minutes(20)))
struct InterceptorTests {
    private let patterns = Patterns()

    private func plugin() -> Plugin {
        Plugin("look", version: "1.0.0")
            .configuration(
                PluginConfiguration(Section()), reloadable: true,
                onChange: { section in patterns.withLock { $0 = section.tasks ?? ["first", "se*"] } }
            )
            .interceptor(Look(patterns: patterns))
    }

    private func decide(_ options: String, _ host: FakeHost) async -> FakeHost.Answer {
        await host.answer(.intercept(0), #"{"interceptor":"look.all","task":"first","options":\#(options)}"#)
    }

    @Test("is listed in the manifest with its tasks")
    func manifest() throws {
        let host = FakeHost(plugin())
        #expect(
            try host.manifest["interceptors"] == [
                ["name": "look.all", "summary": "Looks at calls.", "tasks": ["first", "se*"], "onFailure": "pass"]
            ])
        #expect(host.plugin.pointee.intercept != nil)
        #expect(FakeHost(Plugin("none", version: "1")).plugin.pointee.intercept == nil)
    }

    @Test("decides, and its results and errors cross the interface in the form of the header")
    func decisions() async throws {
        let host = FakeHost(plugin())
        #expect(await decide("[]", host) == .result(["pass": true]))
        #expect(await decide(#"{"do":"rewrite"}"#, host) == .result(["options": ["task": "first"]]))
        #expect(await decide(#"{"do":"redirect"}"#, host) == .result(["task": "other"]))
        #expect(await decide(#"{"do":"redirect with"}"#, host) == .result(["task": "other", "options": [1, 2]]))
        #expect(await decide(#"{"do":"answer"}"#, host) == .result(["result": "an answer"]))
        let raw = try JSON(parsing: #"{"result":{"a": 1.50}}"#)
        #expect(await decide(#"{"do":"answer raw"}"#, host) == .result(raw))
        #expect(
            await decide(#"{"do":"refuse"}"#, host)
                == .result([
                    "error": [
                        "code": "look.refused", "message": "No.", "data": ["a": 1], "transient": true,
                        "retryAfter": 2000,
                    ]
                ]))
        guard case .result(let cancelled) = await decide(#"{"do":"cancel"}"#, host) else {
            Issue.record("cancelling by itself is no failure")
            return
        }
        #expect(cancelled["error"]?["code"] == "call.cancelled")
    }

    @Test(
        "has failed if it throws an error that is not a BridgeError, or answers a value without JSON",
        arguments: ["fail", "endless"])
    func failures(what: String) async {
        guard case .error(let error) = await decide(#"{"do":"\#(what)"}"#, FakeHost(plugin())) else {
            Issue.record("a decision")
            return
        }
        #expect(error.code == .internal)
    }

    @Test("receives the task, the caller and the deadline; its log lines and progress belong to the call")
    func knowledge() async {
        let host = FakeHost(plugin())
        let handle = await host.onLoop {
            $0.request(
                .intercept(0),
                #"{"interceptor":"look.all","task":"second","session":9,"oneWay":true,"options":{"do":"return"}}"#,
                flags: TRESTLE_REQUEST_PROGRESS, timeout: 5_000_000_000)
        }
        #expect(await host.answer(to: handle) == .result(["pass": true]))
        let lines = await host.onLoop { $0.logLines }
        #expect(lines.map(\.message) == ["second 9 true 1000 true"])
        #expect(lines.map(\.call) == [handle])
        #expect(await host.onLoop { $0.progress[handle] } == [5])
    }

    @Test(
        "can run the task with the same options and the caller's own progress", arguments: [true, false])
    func proceeding(wantsProgress: Bool) async {
        let host = FakeHost(plugin())
        let handle = await host.onLoop {
            $0.request(
                .intercept(0),
                #"{"interceptor":"look.all","task":"first","session":4,"options":{"do": "proceed", "n": 1.50}}"#,
                flags: wantsProgress ? TRESTLE_REQUEST_PROGRESS : 0)
        }
        await host.until { !$0.open.isEmpty }
        let inner = await host.onLoop { $0.open.keys.first ?? 0 }
        let made = await host.onLoop { host in
            host.open[inner].map { ($0.task, $0.options, $0.call.parent, $0.call.session) }
        }
        #expect(made?.0 == "first" && made?.2 == handle && made?.3 == 4)
        #expect(made?.1 == (try? JSON(parsing: #"{"do":"proceed","n":1.50}"#)))
        await host.onLoop { $0.sendProgress(inner, 0, "half") }
        await host.onLoop { $0.end(inner, .result([1])) }
        #expect(await host.answer(to: handle) == .result(["result": ["kept": [1]]]))
        #expect(await host.onLoop { $0.progress[handle] } == (wantsProgress ? ["half"] : nil))
    }

    @Test("receives the options byte for byte, and as values on request")
    func rawOptions() async {
        let host = FakeHost(plugin())
        let options = #"{ "do" :"raw", "n":1.50e+2,"\u0061":[ 1 ,"\/"],"a":{} }"#
        #expect(await decide(options, host) == .result(["result": .string(options)]))
        let before = #"{"options": \#(options) ,"\u0074ask" : "first","interceptor":"look.all"}"#
        #expect(await host.answer(.intercept(0), before) == .result(["result": .string(options)]))
    }

    @Test("passes on the error of a task that it calls")
    func errors() async {
        let host = FakeHost(plugin())
        let handle = await host.onLoop {
            $0.request(.intercept(0), #"{"interceptor":"look.all","task":"first","options":{"do":"bridge"}}"#)
        }
        await host.until { !$0.open.isEmpty }
        let inner = await host.onLoop { $0.open.keys.first ?? 0 }
        await host.onLoop { $0.end(inner, .error(BridgeError("plugin.crashed", "gone"))) }
        #expect(await host.answer(to: handle) == .result(["error": ["code": "plugin.crashed", "message": "gone"]]))
    }

    @Test("is cancelled with the call")
    func cancelling() async {
        let host = FakeHost(plugin())
        let handle = await host.onLoop {
            $0.request(.intercept(0), #"{"interceptor":"look.all","task":"first","options":{"do":"wait"}}"#)
        }
        await host.cancel(handle)
        guard case .result(let decision) = await host.answer(to: handle) else {
            Issue.record("cancelling is no failure")
            return
        }
        #expect(decision["error"]?["code"] == "call.cancelled")
    }

    @Test("reports its tasks at the start and when it is configured again")
    func tasks() async {
        let host = FakeHost(plugin())
        func said(_ tasks: JSON) -> FakeHost.Answer { .result(["interceptors": ["look.all": tasks]]) }
        #expect(await host.answer(.configure, #"{"tasks":["a"]}"#) == .result([:]))
        #expect(await host.answer(.start, #"{"stateDirectory":"/","launch":{"arguments":[]}}"#) == said(["a"]))
        #expect(await host.answer(.reconfigure(takes: false), #"{"tasks":["b"]}"#) == .result([:]))
        #expect(await host.answer(.reconfigure(takes: true), #"{"tasks":["c*"]}"#) == said(["c*"]))
    }

    @Test("fails for an invalid request")
    func nonsense() async {
        let host = FakeHost(plugin())
        for (index, text) in [(0, "[]"), (0, #"{"task":"a"}"#), (3, #"{"task":"a","options":1}"#)] {
            guard case .error(let error) = await host.answer(.intercept(UInt32(index)), text) else {
                Issue.record("a decision about \(text)")
                continue
            }
            #expect(error.code == .internal)
        }
    }

    @Test("passes the plugin's check only with a name, a summary and valid task patterns")
    func check() {
        struct Bad: Interceptor {
            static let name = "bad name"
            static let summary = ""
            var tasks: [String] { ["*a", "", "good", "b*"] }
            func intercept(_ call: InterceptedCall) async throws -> Decision { .pass }
        }
        let defects = #expect(throws: PluginDefects.self) {
            try Plugin("bad", version: "1").interceptor(Bad()).interceptor(Bad()).check()
        }
        let sentences = defects?.sentences ?? []
        for beginning in [
            "the interceptor name “bad name” must be", "the interceptor bad name occurs twice",
            "the interceptor bad name has no summary", "the interceptor bad name has the pattern “*a”",
            "the interceptor bad name has the pattern “”",
        ] {
            #expect(sentences.contains { $0.hasPrefix(beginning) }, "\(beginning)")
        }
        #expect(!sentences.contains { $0.contains("“good”") || $0.contains("“b*”") })
    }
}

extension InterceptedCall {
    /// Whether the call has at most five seconds left.
    fileprivate var hasTimeLeft: Bool {
        guard let timeRemaining, let deadline else { return false }
        return timeRemaining <= .seconds(5) && deadline <= .now + .seconds(5)
    }
}
