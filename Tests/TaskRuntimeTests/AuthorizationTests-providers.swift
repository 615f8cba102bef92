import BridgeJSON
import BridgeMessage
import Testing
import WebOrigins

@testable import TaskRuntime

extension AuthorizationTests {
    @Test("Providing a task requires a rule for its name; serving other users requires another rule")
    func providing() {
        apply(
            rule(.allow, [.call], ["bridge.*", "ui.alert"]), rule(.allow, [.register], ["ui.*"], uid: 1000))
        let provider = client()
        #expect(code(provider, "bridge.register", #"{"tasks":["scan"]}"#) == "permission.denied")
        #expect(code(provider, "bridge.register", #"{"tasks":["ui.alert"]}"#) == "answered")
        #expect(code(client(), "ui.alert") == "begun", "its own user's call")
        _ = provider.read()
        let other = client(uid: 1001)
        #expect(code(other, "bridge.register", #"{"tasks":["ui.alert"]}"#) == "permission.denied")
        #expect(code(other, "ui.alert") == "permission.denied")
        #expect(provider.read().isEmpty)
        apply(rule(.allow, [.call]), rule(.allow, [.serve], ["ui.alert"], uid: 1000))
        #expect(code(other, "ui.alert") == "begun")
    }

    @Test("A client cannot present another user's alerts, before or after that user's own presenter registers")
    func presenters() {
        apply(rule(.allow, [.call, .register]))
        let register = #"{"tasks":["ui.alert"]}"#
        let stranger = client(uid: 1001)
        #expect(code(stranger, "bridge.register", register) == "answered")
        // Calls `ui.alert` on behalf of a caller, as the task Alert does.
        let alert = FakeInterceptor(bench, "alert", ["work"])
        let page = client()
        page.send(#"{"task":"work","callbackId":1}"#)
        #expect(alert.call("ui.alert", behind: 0).all == ["permission.denied"])
        let own = client()
        #expect(code(own, "bridge.register", register) == "answered")
        #expect(code(stranger, "bridge.register", register) == "answered", "it is the newest")
        #expect(alert.call("ui.alert", behind: 0).all == [])
        #expect(own.readOne()?["task"] == "ui.alert" && stranger.read().isEmpty)
        own.send(#"{"task":"bridge.unregister","options":{"tasks":["ui.alert"]},"callbackId":1}"#)
        _ = own.read()
        _ = page.read()
        #expect(alert.call("ui.alert", behind: 0).all == ["permission.denied"])
        apply(rule(.allow, [.serve], ["ui.alert"], uid: 1001))
        #expect(alert.call("ui.alert", behind: 0).all == [])
        #expect(stranger.readOne()?["task"] == "ui.alert")
    }

    @Test("Without a rule, a page gets no calls of its user's local programs, only calls of its own origin")
    func providingPages() {
        let names = ["https://a.example", "https://b.example"]
        let rules =
            [rule(.allow, [.call, .register, .origin])] + names.map { rule(.allow, [.call, .register], origin: $0) }
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: rules))
        func hello(_ client: FakeClient, _ origin: String) {
            #expect(code(client, "bridge.hello", #"{"origin":"\#(origin)"}"#) == "answered")
        }
        func provider(of origin: String?) -> FakeClient {
            let provider = client()
            if let origin { hello(provider, origin) }
            #expect(code(provider, "bridge.register", #"{"tasks":["scan"]}"#) == "answered")
            return provider
        }
        let (local, page) = (provider(of: nil), provider(of: names[0]))
        let (program, same, other) = (client(), client(), client())
        hello(same, names[0])
        hello(other, names[1])
        for (caller, provider, left) in [(program, local, page), (other, local, page), (same, page, local)] {
            #expect(code(caller, "scan") == "begun")
            #expect(!provider.read().isEmpty && left.read().isEmpty)
        }
        #expect(code(local, "bridge.register", #"{"tasks":["scan"]}"#) == "answered", "it is the newest")
        #expect(code(same, "scan") == "begun")
        #expect(!local.read().isEmpty && page.read().isEmpty)
        // A provider that has become a page since it registered no longer counts as a local program.
        hello(local, names[1])
        #expect(code(program, "scan") == "permission.denied" && code(other, "scan") == "permission.denied")
        #expect(code(same, "scan") == "begun")
        #expect(!page.read().isEmpty && local.read().isEmpty)
        bench.runtime.apply(
            Policy(
                daemonUID: Bench.daemonUID, rules: rules + [rule(.allow, [.serve], ["scan"], origin: names[0])]))
        #expect(code(program, "scan") == "begun")
        #expect(!page.read().isEmpty)
    }
}
