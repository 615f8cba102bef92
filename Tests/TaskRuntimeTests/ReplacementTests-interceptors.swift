import BridgeJSON
import Testing

@testable import TaskRuntime

extension ReplacementTests {
    @Test("The new version of a plugin is not asked about a call that the old version has passed")
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

    @Test("The interceptors of a new version take the position of the old version's")
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

    @Test("A call that waits for an interceptor keeps its position, and starts in the new plugin")
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

    @Test("A call that waits for an interceptor ends if the new plugin does not have its task")
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

    @Test("A retired plugin can still decide an open question, and is then idle")
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

    @Test("A refused plugin without a known name is named after its file")
    func refusedNames() {
        let names = [
            "/p/libQrScanPlugin.so": "qr-scan", "/p/greet.plugin.toml": "greet", "libgreet.so": "greet",
            "/p/lib.so": "lib", "/p/x": "x",
        ]
        for (path, name) in names { #expect(RefusedPlugin(path: path, reason: "").name == name) }
        #expect(RefusedPlugin(name: "known", path: "/p/libX.so", reason: "").name == "known")
    }
}
