import BridgeJSON
import Testing

@testable import TaskRuntime

extension ReplacementTests {
    @Test("An interceptor that has let a call pass does not see it again in a new version of its plugin")
    func seen() throws {
        let second = FakeInterceptor(bench, "second", ["work"])
        let first = FakeInterceptor(bench, "first", ["work"]) { _ in #"{"pass":true}"# }
        bench.client().send(#"{"task":"work","callbackId":1}"#)
        #expect(first.questions.count == 1 && second.questions.count == 1)
        let described = InterceptorDescription(
            name: "first.all", summary: "Looks at calls.", tasks: ["work"], onFailure: .refuse)
        let host = FakeHost()
        let manifest = PluginManifest(
            name: "first", version: "2", tasks: [], events: [], workers: [], interceptors: [described])
        let new = try bench.runtime.candidate(manifest, path: "/p.so", host: host, inPlaceOf: first.instance)
        try bench.runtime.replace(first.instance, by: new)
        second.decide(0, #"{"pass":true}"#)
        #expect(host.started.isEmpty && bench.host.started.count == 1)
    }

    @Test("The new one's interceptors are asked where the old one's were, not before everybody else's")
    func interceptors() throws {
        let first = FakeInterceptor(bench, "first", ["work"]) { _ in #"{"pass":true}"# }
        let second = FakeInterceptor(bench, "second", ["work"]) { _ in #"{"pass":true}"# }
        let host = FakeHost()
        let described = InterceptorDescription(
            name: "first.new", summary: "Looks at calls.", tasks: ["work"], onFailure: .refuse)
        let manifest = PluginManifest(
            name: "first", version: "2", tasks: [], events: [], workers: [], interceptors: [described])
        let new = try bench.runtime.candidate(manifest, path: "/p.so", host: host, inPlaceOf: first.instance)
        try bench.runtime.replace(first.instance, by: new)
        var order: [String] = []
        host.onStart = { started in
            order.append("first")
            Array(#"{"pass":true}"#.utf8).withUnsafeBytes { new.reply(started.handle, $0) }
        }
        bench.client().send(#"{"task":"work","callbackId":1}"#)
        #expect(second.questions.count == 1 && first.questions.isEmpty)
        #expect(order == ["first"])
        #expect(bench.host.started.count == 1)
    }

    @Test("A call that an interceptor has in hand keeps its position before those behind it; the new one begins them")
    func askedAbout() throws {
        let interceptor = FakeInterceptor(bench, "looker", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","options":1,"callbackId":1}"#)
        client.send(#"{"task":"one","options":2,"callbackId":2}"#)
        let (new, host) = try successor([TaskDescription(name: "work"), TaskDescription(name: "one")])
        try bench.runtime.replace(bench.instance, by: new)
        #expect(host.started.isEmpty)
        interceptor.decide(0, #"{"pass":true}"#)
        #expect(host.started.map(\.options) == ["1", "2"])
        #expect(bench.host.started.isEmpty)
    }

    @Test("One whose task is gone ends, whatever is decided about it")
    func askedAboutGone() throws {
        let interceptor = FakeInterceptor(bench, "looker", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","options":1,"callbackId":1}"#)
        let (new, host) = try successor([TaskDescription(name: "one")])
        try bench.runtime.replace(bench.instance, by: new)
        #expect(client.read().map(\.errorCode) == ["task.not_found"])
        interceptor.decide(0, #"{"pass":true}"#)
        #expect(client.read().isEmpty && host.started.isEmpty)
    }

    @Test("What an old one's interceptor has in hand it may decide; it is idle then")
    func oldInterceptor() throws {
        let interceptor = FakeInterceptor(bench, "looker", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","options":1,"callbackId":1}"#)
        bench.runtime.retire(interceptor.instance)
        var isIdle = false
        bench.runtime.whenIdle(interceptor.instance, within: .seconds(5)) { isIdle = true }
        client.send(#"{"task":"work","options":2,"callbackId":2}"#)
        #expect(!isIdle && interceptor.questions.count == 1)
        interceptor.decide(0, #"{"result":"decided"}"#)
        #expect(isIdle)
        #expect(client.readOne() == ["callbackId": 1, "result": "decided"])
        bench.runtime.writeOutput()
        #expect(bench.host.started.map(\.options) == ["2"])
    }

    @Test("A plugin that could not be used is known by what its file is called, where its name is unknown")
    func refusedNames() {
        let names = [
            "/p/libQrScanPlugin.so": "qr-scan", "/p/greet.plugin.toml": "greet", "libgreet.so": "greet",
            "/p/lib.so": "lib", "/p/x": "x",
        ]
        for (path, name) in names { #expect(RefusedPlugin(path: path, reason: "").name == name) }
        #expect(RefusedPlugin(name: "known", path: "/p/libX.so", reason: "").name == "known")
    }
}
