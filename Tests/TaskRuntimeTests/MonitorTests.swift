import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Monitoring of traffic")
struct MonitorTests {
    let bench = Bench()

    func monitor(_ options: String = "{}", uid: UInt32 = 0) -> FakeClient {
        let client = bench.client(uid: uid)
        client.send(#"{"task":"bridge.monitor","options":\#(options),"callbackId":"m"}"#)
        #expect(client.read() == [["callbackId": "m", "result": [:]]])
        return client
    }

    /// Returns the lines that a client has received, without the time.
    func lines(_ client: FakeClient) -> [JSON] {
        client.read().map { message in
            guard message["event"] == "bridge.traffic", var line = message["data"]?.objectValue else { return message }
            line["wallMs"] = nil
            return .object(line)
        }
    }

    func kinds(_ client: FakeClient) -> [String] { lines(client).compactMap { $0["kind"]?.stringValue } }

    @Test("A call, its progress and its callback are shown with caller, duration and result")
    func oneCall() throws {
        let watcher = monitor()
        let caller = bench.client(uid: 900)
        _ = watcher.read()
        caller.send(#"{"task":"work","options":{"a":1},"callbackId":"c","progress":true}"#)
        bench.progress(0, "5")
        bench.clock.advance(.microseconds(1_500))
        bench.reply(0, #"{"b":2}"#)
        let lines = lines(watcher)
        let call = lines.first?["call"] ?? nil
        let who: JSONObject = [
            "call": call, "task": "work", "session": .number(JSONNumber(caller.session.number)), "uid": 900,
        ]
        func line(_ kind: JSON, _ more: JSONObject) -> JSON {
            var object: JSONObject = ["kind": kind]
            for (name, value) in who { object[name] = value }
            for (name, value) in more { object[name] = value }
            return .object(object)
        }
        #expect(
            lines == [
                line("call", ["callbackId": "c", "options": ["a": 1]]),
                line("progress", ["sequence": 0, "progress": 5]),
                line("callback", ["durationUs": 1_500, "result": ["b": 2]]),
            ])
    }

    @Test("A watcher that sets an origin stops watching, unless a rule permits it", arguments: [false, true])
    func namedOrigin(isAllowed: Bool) throws {
        var rule = PolicyRule(.allow, [.call], file: "p.toml", line: 1)
        rule.names = try [#require(PolicyName(isAllowed ? "bridge.admin" : "bridge.*"))]
        rule.origins = [ExactText("https://a.example")]
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [rule]))
        let watcher = monitor()
        watcher.send(#"{"task":"bridge.hello","options":{"origin":"https://a.example"},"callbackId":1}"#)
        #expect(watcher.read().last?["result"] != nil)
        bench.client().send(#"{"task":"work","options":1}"#)
        #expect(kinds(watcher).contains("call") == isAllowed)
        #expect(bench.runtime.monitor.isWatched == isAllowed)
    }

    @Test("Errors, refusals, forwarded calls and events are shown")
    func others() throws {
        let watcher = monitor()
        let provider = bench.client(uid: 900)
        provider.send(#"{"task":"bridge.register","options":{"tasks":["scan"]}}"#)
        let caller = bench.client(uid: 900)
        _ = watcher.read()
        caller.send(#"{"task":"scan","callbackId":1}"#)
        let forwarded = try #require(provider.readOne()?["callbackId"])
        provider.send(#"{"callbackId":\#(forwarded.text),"error":{"code":"scan.dark","message":"It is dark."}}"#)
        caller.send(#"{"task":"Nope","callbackId":2}"#)
        caller.send("{")
        bench.runtime.publish("door.opened", data: ["floor": 2])
        let lines = lines(watcher)
        #expect(lines.map { $0["kind"] } == ["call", "forward", "callback", "refused", "refused", "event"])
        #expect(lines[1]["to"] == .number(JSONNumber(provider.session.number)))
        #expect(lines[2]["error"] == ["code": "scan.dark", "message": "It is dark."])
        #expect(lines[3]["task"] == "Nope")
        #expect(lines[3]["error"]?["code"] == "task.not_found")
        #expect(lines[4]["error"]?["code"] == "message.invalid")
        #expect(lines[5] == ["kind": "event", "event": "door.opened", "receivers": 0, "data": ["floor": 2]])
    }

    @Test("A call of a private task is shown without options, progress, result and error details")
    func privateTask() {
        let host = FakeHost()
        let instance = bench.add("vault", tasks: [TaskDescription(name: "open", isPrivate: true)], host)
        let watcher = monitor()
        let caller = bench.client()
        _ = watcher.read()
        for id in 1...2 {
            caller.send(#"{"task":"open","options":{"n":"hunter2"},"callbackId":\#(id),"progress":true}"#)
        }
        Array(#""hunter2""#.utf8).withUnsafeBytes { text in
            instance.progress(host.started[0].handle, text)
            instance.reply(host.started[0].handle, text)
        }
        instance.fail(host.started[1].handle, BridgeError("vault.closed", "not hunter2", data: ["got": "hunter2"]))
        let text = watcher.read().map(\.text)
        #expect(text.count == 5)
        #expect(!text.joined().contains("hunter2"))
        #expect(text[0].contains(#""options":"<private>""#))
        #expect(text[2].contains(#""progress":"<private>""#))
        #expect(text[3].contains(#""result":"<private>""#))
        #expect(text[4].contains(#""error":{"code":"vault.closed","message":"<private>"}"#))
    }

    @Test("Members with names of secrets are masked everywhere, as are error messages about them")
    func secretMembers() {
        let watcher = monitor()
        let caller = bench.client()
        _ = watcher.read()
        caller.send(#"{"task":"work","options":{"password":"hunter2"},"callbackId":1,"progress":true}"#)
        caller.send(#"{"task":"work","options":{},"callbackId":2}"#)
        bench.progress(0, #"{"token":"hunter2"}"#)
        bench.reply(0, #"{"a":[{"clientSecret":"hunter2"}]}"#)
        bench.instance.fail(
            bench.host.started[1].handle,
            BridgeError(JSONMismatch(path: "$.login.password", expected: "a number", got: "\"hunter2\"")))
        caller.send(#"{"task":"bridge.publish","options":{"event":"e","data":{"cookie":"hunter2"}}}"#)
        let text = watcher.read().map(\.text)
        #expect(text.count == 8)
        #expect(!text.joined().contains("hunter2"))
        #expect(text.joined().contains(#"{"code":"options.invalid","message":"<private>"}"#))
    }

    @Test("A long payload is cut, and its length is reported")
    func longPayload() {
        let watcher = monitor()
        let caller = bench.client()
        _ = watcher.read()
        let options = "\"" + String(repeating: "x", count: 5_000) + "\""
        caller.send(#"{"task":"work","options":\#(options),"callbackId":1}"#)
        let line = lines(watcher).first
        #expect(line?["optionsBytes"] == 5_002)
        #expect(line?["options"]?.stringValue?.hasSuffix("x…") == true)
        #expect(line?["options"]?.stringValue?.utf8.count == TrafficMask.usualBytes + "…".utf8.count)
    }

    @Test("Each watcher sets the number of payload bytes that it gets, up to a limit")
    func payloadBytes() {
        let whole = monitor(#"{"payloadBytes":262144}"#)
        let little = monitor(#"{"payloadBytes":16}"#)
        let usual = monitor()
        let caller = bench.client()
        for watcher in [whole, little, usual] { _ = watcher.read() }
        let options = "\"" + String(repeating: "x", count: 5_000) + "\""
        caller.send(#"{"task":"work","options":\#(options),"callbackId":1}"#)
        #expect(lines(whole).first?["options"]?.stringValue?.utf8.count == 5_000)
        #expect(lines(little).first?["options"]?.stringValue?.utf8.count == 16 + "…".utf8.count)
        #expect(
            lines(usual).first?["options"]?.stringValue?.utf8.count
                == TrafficMask.usualBytes + "…".utf8.count)
        for bad in ["0", "262145", "-1", "1.5", "\"all\""] {
            caller.send(#"{"task":"bridge.monitor","options":{"payloadBytes":\#(bad)},"callbackId":2}"#)
            #expect(caller.read().last?.errorCode == "options.invalid", "\(bad)")
        }
    }

    @Test("A watcher gets a limited number of payload bytes in each turn of the loop")
    func payloadBound() {
        let watcher = monitor(#"{"payloadBytes":262144}"#)
        let caller = bench.client()
        _ = watcher.read()
        let options = "\"" + String(repeating: "x", count: 200_000) + "\""
        for _ in 0..<8 { caller.send(#"{"task":"work","options":\#(options)}"#) }
        var shown: [JSON] = []
        while case let more = lines(watcher), !more.isEmpty { shown += more }
        #expect((4...6).contains(shown.count { $0["kind"] == "call" }))
        #expect(shown.contains { $0["event"] == "bridge.events_dropped" })
    }

    @Test("A watcher can filter by task, session and user")
    func filters() {
        let first = bench.client(uid: 900)
        let second = bench.client(uid: 0)
        let byTask = monitor(#"{"task":"wor*"}"#)
        let byOther = monitor(#"{"task":"wor"}"#)
        let bySession = monitor(#"{"session":\#(first.session.number)}"#)
        let byUser = monitor(#"{"uid":0,"task":"one"}"#)
        for watcher in [byTask, byOther, bySession, byUser] { _ = watcher.read() }
        first.send(#"{"task":"work","callbackId":1}"#)
        second.send(#"{"task":"one","callbackId":1}"#)
        first.send(#"{"task":"bridge.subscribe","options":{"events":["e"]},"callbackId":2}"#)
        second.send(#"{"task":"Nope","callbackId":2}"#)
        bench.runtime.publish("e", data: nil)
        bench.runtime.publish("f", data: nil)
        #expect(lines(byTask).map { $0["task"] } == ["work"])
        #expect(lines(byOther) == [])
        #expect(kinds(bySession) == ["call", "call", "callback", "event"])
        #expect(lines(byUser).map { $0["task"] } == ["one"])
    }

    @Test("Plugins' own calls are shown with the plugin's name")
    func pluginCalls() {
        let watcher = monitor(#"{"task":"work"}"#)
        let name = Array("work".utf8)
        let options = Array("{}".utf8)
        name.withUnsafeBytes { name in
            options.withUnsafeBytes { options in
                _ = bench.runtime.call(
                    PluginCall(
                        parent: nil, task: name, options: options, session: nil, deadline: .standard, onProgress: nil,
                        completion: { _ in }), by: bench.instance)
            }
        }
        let line = lines(watcher).first
        #expect(line?["plugin"] == "worker")
        #expect(line?["session"] == nil)
    }

    @Test("Invalid options and untrusted callers are refused")
    func badOptions() {
        let client = bench.client()
        for options in [#"{"task":"a*b"}"#, #"{"task":""}"#, #"{"session":"x"}"#, #"{"uid":-1}"#] {
            client.send(#"{"task":"bridge.monitor","options":\#(options),"callbackId":1}"#)
            #expect(client.readOne()?.errorCode == "options.invalid", "\(options)")
        }
        let stranger = bench.client(uid: 12_345)
        stranger.send(#"{"task":"bridge.monitor","callbackId":1}"#)
        #expect(stranger.readOne()?.errorCode == "permission.denied")
        #expect(!bench.runtime.monitor.isWatched)
    }
}
