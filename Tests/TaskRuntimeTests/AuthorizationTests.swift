import BridgeJSON
import BridgeMessage
import Testing
import WebOrigins

@testable import TaskRuntime

@Suite("Authorization on the bridge")
struct AuthorizationTests {
    let bench = Bench(extraTasks: [
        TaskDescription(name: "open", isPublic: true), TaskDescription(name: "kept", permission: "vault"),
    ])

    func apply(_ rules: PolicyRule...) {
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, publicGroup: 77, rules: rules))
    }

    func client(uid: UInt32 = 1000, groups: [UInt32] = []) -> FakeClient {
        FakeClient(bench, PeerIdentity(uid: uid, gid: uid, pid: 1, groups: groups))
    }

    func code(_ client: FakeClient, _ task: String, _ options: String = "{}", more: String = "") -> String? {
        client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":"c"\#(more)}"#)
        let answers = client.read()
        if answers.isEmpty {
            client.send(#"{"cancel":"c"}"#)
            _ = client.read()
            return "begun"
        }
        return answers[0].errorCode ?? "answered"
    }

    @Test("A denied call does not start, and its error contains the rule")
    func denied() throws {
        apply(rule(.allow, [.call]), rule(.deny, [.call], ["work"], line: 12))
        let client = client()
        client.send(#"{"task":"work","callbackId":1}"#)
        let error = try #require(client.readOne()?["error"])
        #expect(error["code"] == "permission.denied" && error["message"] == "uid 1000 may not call work")
        #expect(error["data"] == ["rule": "deny call, 50-test.toml:12"])
        #expect(bench.host.started.isEmpty)
    }

    @Test("Members of the public group may call public tasks and bridge.hello, and nothing else")
    func open() {
        apply()
        let member = client(groups: [5, 77])
        #expect(code(member, "open") == "begun" && code(member, "bridge.hello") == "answered")
        #expect(code(member, "work") == "permission.denied" && code(member, "bridge.status") == "permission.denied")
        let tasks = { () -> [String] in
            member.send(#"{"task":"bridge.tasks","callbackId":1}"#)
            return member.readOne()?["result"]?["tasks"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
        }()
        #expect(tasks.contains("open") && !tasks.contains("work") && !tasks.contains("bridge.kill"))
        #expect(code(client(), "open") == "permission.denied")
    }

    @Test("Rules match a task's permission, not its name")
    func permissions() {
        apply(rule(.allow, [.call], ["vault"]))
        #expect(code(client(), "kept") == "begun")
        apply(rule(.allow, [.call], ["kept"]))
        #expect(code(client(), "kept") == "permission.denied")
    }

    @Test("New rules apply at once to open sessions; calls in flight continue")
    func living() {
        apply(rule(.allow, [.call]))
        let client = client()
        client.send(#"{"task":"work","callbackId":1}"#)
        #expect(code(client, "work") == "begun")
        apply()
        #expect(code(client, "work") == "permission.denied")
        bench.reply(0, "1")
        #expect(client.readOne()?["result"] == 1)
        apply(rule(.allow, [.call]))
        #expect(code(client, "work") == "begun")
    }

    @Test("The rights of a session change with its user and its origin")
    func identity() throws {
        apply(
            rule(.allow, [.call], ["work"], user: "ada"), rule(.allow, [.call], ["one"], origin: "app://a"),
            rule(.allow, [.call], ["bridge.hello"]), rule(.allow, [.origin], ["app://*"], uid: 1000))
        let client = client()
        #expect(code(client, "work") == "permission.denied" && code(client, "one") == "permission.denied")
        client.session.user = "ada"
        #expect(code(client, "work") == "begun")
        client.session.user = nil
        #expect(code(client, "work") == "permission.denied")
        #expect(code(client, "bridge.hello", #"{"origin":"app://a"}"#) == "answered")
        #expect(code(client, "one") == "begun")
        #expect(code(self.client(uid: 1001), "bridge.hello", #"{"origin":"app://a"}"#) == "permission.denied")
    }

    @Test("Rules about a plugin apply to its own calls, not to its calls on behalf of a client")
    func pluginCalls() {
        apply(rule(.allow, [.call]), rule(.deny, [.call], ["vault"], plugin: "notes"))
        let notes = FakeInterceptor(bench, "notes", ["work"])
        let other = FakeInterceptor(bench, "other", ["one"])
        client().send(#"{"task":"work","callbackId":1}"#)
        #expect(notes.call("kept", behind: nil).all == ["permission.denied"])
        #expect(notes.call("open", behind: nil).all == [] && notes.call("kept", behind: 0).all == [])
        #expect(other.call("kept", behind: nil).all == [])
    }

    @Test("Addressing a call to another session requires a rule")
    func addressing() {
        apply(rule(.allow, [.call, .register]))
        let provider = client()
        #expect(code(provider, "bridge.register", #"{"tasks":["scan"]}"#) == "answered")
        let caller = client()
        let target = #","session":\#(provider.session.number)"#
        #expect(code(caller, "scan", more: target) == "permission.denied")
        #expect(code(provider, "scan", more: target) != "permission.denied", "its own")
        apply(rule(.allow, [.call, .address], ["scan"]))
        #expect(code(caller, "scan", more: target) == "begun")
    }

    @Test(
        "Clients receive only permitted events, also by wildcard, when retained, and after the rules change"
    )
    func events() {
        apply(
            rule(.allow, [.call]), rule(.allow, [.publish], ["news.*"]),
            rule(.allow, [.subscribe], ["news.a", "news.b"]))
        let reader = client()
        #expect(code(reader, "bridge.subscribe", #"{"events":["secret"]}"#) == "permission.denied")
        let writer = client()
        #expect(code(writer, "bridge.publish", #"{"event":"other"}"#) == "permission.denied")
        #expect(code(writer, "bridge.publish", #"{"event":"news.c","retain":true}"#) == "answered")
        #expect(code(reader, "bridge.subscribe", #"{"events":["*"]}"#) == "answered")
        for event in ["news.a", "news.b", "news.c"] {
            #expect(code(writer, "bridge.publish", #"{"event":"\#(event)"}"#) == "answered")
        }
        #expect(reader.read().map { $0["event"] } == ["news.a", "news.b"])
        apply(rule(.allow, [.call, .publish]), rule(.deny, [.subscribe], ["news.a"]), rule(.allow, [.subscribe]))
        for event in ["news.a", "news.c"] { _ = code(writer, "bridge.publish", #"{"event":"\#(event)"}"#) }
        #expect(reader.read().map { $0["event"] } == ["news.c"])
    }

    @Test("A subscription to one event follows each change of the rules and of its subscriber's user and origin")
    func subscriptionRights() {
        let mayListen = rule(.allow, [.subscribe], ["secret"])
        let always = rule(.allow, [.call, .publish, .origin])
        apply(always, mayListen)
        let (reader, writer) = (client(), client())
        #expect(code(reader, "bridge.subscribe", #"{"events":["secret"]}"#) == "answered")
        func gets() -> Bool {
            _ = code(writer, "bridge.publish", #"{"event":"secret"}"#)
            return !reader.read().isEmpty
        }
        #expect(gets() && gets())
        apply(always)
        #expect(!gets() && !gets())
        apply(always, rule(.allow, [.subscribe], ["secret"], user: "ada"))
        #expect(!gets())
        reader.session.user = "ada"
        #expect(gets() && gets())
        reader.session.user = nil
        #expect(!gets())
        apply(always, rule(.allow, [.subscribe], ["secret"], origin: "app://a"))
        #expect(!gets())
        #expect(code(reader, "bridge.hello", #"{"origin":"app://a"}"#) == "answered")
        #expect(gets() && gets())
    }

    @Test("Only the owner of a retained event, or a client that a rule permits, may replace or remove it")
    func replacing() {
        var pages = rule(.allow, [.call, .publish, .subscribe], origin: "app://a")
        pages.origins = ["app://a", "app://b"]
        let rules = [rule(.allow, [.call, .publish, .subscribe, .origin]), pages]
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: rules))
        func publish(_ client: FakeClient, _ more: String) -> String? {
            code(client, "bridge.publish", #"{"event":"lamp",\#(more)}"#)
        }
        let (owner, again, other, page) = (client(), client(), client(uid: 1001), client())
        _ = code(page, "bridge.hello", #"{"origin":"app://a"}"#)
        #expect(publish(owner, #""data":1,"retain":true"#) == "answered")
        for stranger in [other, page] {
            #expect(publish(stranger, #""data":2,"retain":true"#) == "permission.denied")
            #expect(publish(stranger, #""forget":true"#) == "permission.denied")
            #expect(publish(stranger, #""data":2"#) == "answered", "it is only sent")
        }
        #expect(bench.runtime.retainedEvents == [RetainedEvent(event: "lamp", data: 1, uid: 1000)])
        #expect(publish(again, #""data":3,"retain":true"#) == "answered", "another session of its owner's")
        // The other session may also remove it.
        #expect(publish(again, #""forget":true"#) == "answered")
        #expect(publish(page, #""data":4,"retain":true"#) == "answered")
        let kept = bench.runtime.retainedEvents
        #expect(kept == [RetainedEvent(event: "lamp", data: 4, uid: 1000, origin: "app://a")])
        bench.runtime.retain(kept)
        #expect(publish(owner, #""forget":true"#) == "permission.denied")
        let pageOfB = client()
        _ = code(pageOfB, "bridge.hello", #"{"origin":"app://b"}"#)
        #expect(publish(pageOfB, #""forget":true"#) == "permission.denied")
        bench.runtime.apply(
            Policy(daemonUID: Bench.daemonUID, rules: rules + [rule(.allow, [.replace], ["lamp"], uid: 1001)]))
        #expect(publish(owner, #""forget":true"#) == "permission.denied")
        #expect(publish(other, #""data":5,"retain":true"#) == "answered", "by the rule, and it is that user's now")
        #expect(bench.runtime.retainedEvents.map(\.uid) == [1001])
        #expect(publish(client(uid: 0), #""forget":true"#) == "answered", "root needs no rule")
    }

    @Test("An interceptor cannot redirect a call to a task that the caller may not call")
    func redirect() {
        apply(rule(.allow, [.call], ["work"]))
        _ = FakeInterceptor(bench, "detour", ["work"]) { _ in #"{"task":"one"}"# }
        #expect(code(client(), "work") == "permission.denied")
    }
}
