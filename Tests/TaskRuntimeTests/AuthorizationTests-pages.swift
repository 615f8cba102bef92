import BridgeJSON
import BridgeMessage
import Testing
import WebOrigins

@testable import TaskRuntime

extension AuthorizationTests {
    @Test("A page under the daemon's own user is not trusted with any verb, and can get the reason")
    func pages() throws {
        apply()
        let page = client(uid: Bench.daemonUID)
        let open = client(uid: Bench.daemonUID)
        #expect(page.session.isTrusted && code(page, "bridge.status") == "answered")
        #expect(code(page, "bridge.hello", #"{"origin":"https://a.example"}"#) == "answered")
        #expect(!page.session.isTrusted && open.session.isTrusted)
        #expect(code(page, "open") == "begun" && code(page, "bridge.ping") == "answered")
        let registered = #"{"tasks":["scan"]}"#
        for (task, options) in [
            ("work", "{}"), ("bridge.status", "{}"), ("bridge.kill", #"{"call":1}"#), ("bridge.register", registered),
            ("bridge.publish", #"{"event":"news"}"#), ("bridge.subscribe", #"{"events":["news"]}"#),
            ("bridge.explain", #"{"task":"work","uid":5}"#),
        ] {
            #expect(code(page, task, options) == "permission.denied", "\(task)")
        }
        #expect(code(page, "bridge.subscribe", #"{"events":["*","bridge.events_dropped"]}"#) == "answered")
        #expect(code(open, "bridge.publish", #"{"event":"news"}"#) == "answered")
        #expect(page.read().isEmpty)
        apply(rule(.allow, [.call], ["work"], uid: Bench.daemonUID))
        let explained = try #require(explain(page, #"{"task":"work"}"#))
        #expect(explained["allowed"] == false && explained["line"] == 1)
        #expect(explained["rule"]?.stringValue?.contains("has no condition origin") == true)
        apply(rule(.allow, [.call, .register], origin: "https://a.example"))
        #expect(code(page, "work") == "begun" && code(page, "bridge.register", registered) == "answered")
        #expect(code(open, "scan") == "permission.denied")
        apply(rule(.allow, [.call, .register, .serve], origin: "https://a.example"))
        #expect(code(open, "scan") == "begun")
        let other = client(uid: Bench.daemonUID)
        #expect(code(other, "bridge.hello", #"{"origin":"https://b.example"}"#) == "answered")
        #expect(code(other, "work") == "permission.denied")
    }

    @Test(
        "Origins of sessions and owners of retained events are compared byte by byte",
        arguments: PolicyTests.lookalikes)
    func bytes(name: String, lookalike: String) {
        var pages = rule(.allow, [.call, .publish], origin: name)
        pages.origins = [ExactText(name), ExactText(lookalike)]
        apply(rule(.allow, [.call, .origin]), pages)
        let (one, other) = (client(), client())
        #expect(code(one, "bridge.hello", #"{"origin":"\#(name)"}"#) == "answered")
        #expect(code(one, "bridge.hello", #"{"origin":"\#(lookalike)"}"#) == "permission.denied")
        #expect(code(other, "bridge.hello", #"{"origin":"\#(lookalike)"}"#) == "answered")
        #expect(code(one, "bridge.publish", #"{"event":"lamp","retain":true}"#) == "answered")
        #expect(code(other, "bridge.publish", #"{"event":"lamp","forget":true}"#) == "permission.denied")
    }

    @Test("A page's session that continues in another daemon is not trusted there")
    func pagesElsewhere() {
        let page = client(uid: Bench.daemonUID)
        _ = code(page, "bridge.hello", #"{"origin":"https://a.example"}"#)
        let next = Bench()
        let session = next.runtime.resume(
            bench.runtime.record(of: page.session), peer: page.session.peer, transport: FakeTransport())
        #expect(!session.isTrusted && session.account.connections == 1)
    }

    @Test("A rule about the names of the bridge's tasks does not permit administration of the daemon")
    func administration() {
        let tasks: [(String, String)] = [
            ("bridge.monitor", "{}"), ("bridge.metrics", "{}"), ("bridge.calls", "{}"), ("bridge.kill", #"{"call":1}"#),
            ("bridge.sessions", "{}"), ("bridge.status", "{}"), ("bridge.plugins", "{}"), ("bridge.reload", "{}"),
            ("bridge.plugin.load", #"{"path":"/x"}"#), ("bridge.plugin.unload", #"{"name":"worker"}"#),
            ("bridge.plugin.reload", #"{"name":"worker"}"#), ("bridge.explain", #"{"task":"work","uid":0}"#),
        ]
        let client = client()
        for names in [nil, ["bridge.*"], ["*"]] {
            apply(rule(.allow, [.call], names))
            #expect(code(client, "bridge.ping") == "answered")
            for (task, options) in tasks { #expect(code(client, task, options) == "permission.denied", "\(task)") }
        }
        apply(rule(.allow, [.call], ["bridge.admin", "bridge.explain"]))
        for (task, options) in tasks { #expect(code(client, task, options) != "permission.denied", "\(task)") }
        // Each of the daemon's tasks that is not public requires the permission to administer.
        let own = bench.runtime.ownPermissions.filter { $0.task.hasPrefix("bridge.") }
        let root = bench.client()
        for (task, permission) in own {
            root.send(#"{"task":"bridge.describe","options":{"task":"\#(task)"},"callbackId":1}"#)
            let isPublic = root.readOne()?["result"]?["public"] == true
            #expect(permission == (isPublic ? task : "bridge.admin"), "\(task)")
        }
    }
}
