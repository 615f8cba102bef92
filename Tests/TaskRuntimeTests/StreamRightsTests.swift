import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("Rights to take the end of a stream")
struct StreamRightsTests {
    private let bench = Bench()

    private func plugin() -> StreamPlugin { StreamPlugin(bench, bench.instance) }

    private func isFound(_ answer: JSON) -> Bool { answer.errorCode != "stream.not_found" }

    @Test("A session of another user gets the error of a stream that does not exist")
    func otherUser() {
        let (owner, stranger) = (StreamClient(bench, uid: 0), StreamClient(bench, uid: Bench.daemonUID))
        let stream = JSON.string(owner.make())
        let never = JSON.string("stream:" + String(repeating: "0", count: 32))
        for (task, more) in [
            ("read", [:]), ("write", ["base64": "AA=="]), ("close", [:]),
        ] as [(String, JSONObject)] {
            var (known, unknown) = (more, more)
            known["stream"] = stream
            unknown["stream"] = never
            let answer = stranger.call(task, .object(known))["error"]
            #expect(answer?["code"] == "stream.not_found")
            #expect(answer == stranger.call(task, .object(unknown))["error"])
        }
        #expect(owner.call("write", ["stream": stream, "base64": "AA=="])["room"] != nil)
    }

    @Test("A page finds no streams of its user's programs or of another origin, only of its own origin")
    func origins() {
        let program = StreamClient(bench)
        let pages = ["https://a.example", "https://b.example", "https://a.example"].map { origin in
            let page = StreamClient(bench)
            page.client.send(#"{"task":"bridge.hello","options":{"origin":"\#(origin)"},"callbackId":"h"}"#)
            _ = page.client.read()
            return page
        }
        #expect(!isFound(pages[0].call("close", ["stream": .string(program.make())])))
        let stream = JSON.string(pages[0].make())
        #expect(!isFound(program.call("close", ["stream": stream])))
        #expect(!isFound(pages[1].call("close", ["stream": stream])))
        #expect(isFound(pages[2].call("close", ["stream": stream])))
    }

    @Test(
        "An invalid name of a stream is not found",
        arguments: [
            "", "stream:", "stream:0123456789abcdef0123456789abcde", "stream:0123456789abcdef0123456789abcdef0",
            "stream:0123456789ABCDEF0123456789ABCDEF", "Stream:0123456789abcdef0123456789abcdef", "stream:\u{0}",
        ])
    func noName(name: String) {
        #expect(!isFound(StreamClient(bench).call("read", ["stream": .string(name)])))
    }

    @Test("A plugin can take the stream of its caller only on behalf of that call, and then holds the end")
    func calledPlugin() {
        let client = StreamClient(bench)
        let stream = JSON.string(client.make())
        client.client.send(#"{"task":"work","options":{"photo":\#(stream.text)},"callbackId":"w"}"#)
        let other = bench.client(uid: Bench.daemonUID)
        other.send(#"{"task":"slow","callbackId":"s"}"#)
        let plugin = plugin()
        #expect(!isFound(plugin.call("read", ["stream": stream])))
        #expect(!isFound(plugin.call("read", ["stream": stream], for: bench.host.started[1].handle)))
        _ = client.call("write", ["stream": stream, "base64": "AAAA"])
        #expect(
            plugin.call("read", ["stream": stream], for: bench.host.started[0].handle) == ["base64": "AAAA"])
        // The plugin holds the end from now on, also after the call.
        bench.reply(0, "true")
        _ = client.client.read()
        _ = client.call("write", ["stream": stream, "base64": "AAAB"])
        #expect(plugin.call("read", ["stream": stream]) == ["base64": "AAAB"])
    }

    @Test("A stream end that a plugin holds for one caller is not found on behalf of another one")
    func otherCaller() {
        let (client, stranger) = (StreamClient(bench), bench.client(uid: Bench.daemonUID))
        let (read, made) = (JSON.string(client.make()), plugin().call("new", [:])["stream"] ?? .null)
        client.client.send(#"{"task":"work","callbackId":"w"}"#)
        stranger.send(#"{"task":"work","callbackId":"w"}"#)
        let (own, other) = (bench.host.started[0].handle, bench.host.started[1].handle)
        let plugin = plugin()
        plugin.begin("bridge.stream.read", ["stream": read], for: own)
        for stream in [read, made, "stream:0123456789abcdef0123456789abcdef"] {
            let write: JSON = ["stream": stream, "base64": "AAAA"]
            for (task, options) in [("read", ["stream": stream]), ("write", write), ("close", ["stream": stream])] {
                #expect(plugin.call(task, options, for: other).errorCode == "stream.not_found")
            }
        }
        #expect(client.call("write", ["stream": read, "base64": "AAAA"])["room"] != nil)
        #expect(plugin.call("write", ["stream": made, "base64": "AAAA"])["room"] != nil)
    }

    @Test("A provider does not find streams of its own user on behalf of another user's call")
    func otherCallerOfProvider() {
        let (provider, stranger) = (StreamClient(bench), bench.client(uid: Bench.daemonUID))
        provider.client.send(#"{"task":"bridge.register","options":{"tasks":["photo.add"]},"callbackId":"r"}"#)
        _ = provider.client.read()
        let stream = JSON.string(StreamClient(bench).make())
        stranger.send(#"{"task":"photo.add","callbackId":"p"}"#)
        let id = provider.client.read().first?["callbackId"] ?? .null
        #expect(provider.call("read", ["stream": stream, "call": id]).errorCode == "stream.not_found")
    }

    @Test("A read that takes an end for a call continues to wait after that call has been answered")
    func outlasting() {
        let client = StreamClient(bench)
        let stream = JSON.string(client.make())
        client.client.send(#"{"task":"work","options":{},"callbackId":"r"}"#)
        let plugin = plugin()
        let handle = bench.host.started[0].handle
        let read = plugin.begin("bridge.stream.read", ["stream": stream], for: handle)
        bench.reply(0, "{}")
        #expect(client.client.read().first?["callbackId"] == "r" && read.value == nil)
        _ = client.call("write", ["stream": stream, "base64": "AAAA"])
        #expect(read.value == ["base64": "AAAA"])
    }

    @Test("A caller can take the stream of a result after its call has ended; another user's session cannot")
    func result() {
        let (client, stranger) = (StreamClient(bench), StreamClient(bench, uid: Bench.daemonUID))
        client.client.send(#"{"task":"work","callbackId":"w"}"#)
        let plugin = plugin()
        let stream = plugin.call("new", [:], for: bench.host.started[0].handle)["stream"] ?? .null
        bench.reply(0, stream.text)
        #expect(client.client.readOne()?["result"] == stream)
        #expect(!isFound(stranger.call("read", ["stream": stream])))
        #expect(plugin.call("write", ["stream": stream, "base64": "AAAA"])["room"] != nil)
        #expect(client.call("read", ["stream": stream]) == ["base64": "AAAA"])
    }

    @Test("The stream of a result reaches the caller through a second plugin that only passes on its name")
    func through() {
        let inner = FakeHost()
        let second = bench.add("inner", tasks: [TaskDescription(name: "inner")], inner)
        let client = StreamClient(bench)
        client.client.send(#"{"task":"work","callbackId":"w"}"#)
        let outer = plugin()
        outer.begin("inner", [:], for: bench.host.started[0].handle)
        let stream = StreamPlugin(bench, second).call("new", [:], for: inner.started[0].handle)["stream"] ?? .null
        Array(stream.text.utf8).withUnsafeBytes { second.reply(inner.started[0].handle, $0) }
        bench.reply(0, stream.text)
        _ = client.client.read()
        #expect(isFound(client.call("close", ["stream": stream])))
    }

    @Test("A provider can take the caller's stream if it names the call that it received")
    func provider() throws {
        let provider = StreamClient(bench, uid: Bench.daemonUID)
        provider.client.send(#"{"task":"bridge.register","options":{"tasks":["scan"]},"callbackId":"r"}"#)
        _ = provider.client.read()
        let client = StreamClient(bench)
        let stream = JSON.string(client.make())
        client.client.send(#"{"task":"scan","options":\#(stream.text),"callbackId":"s"}"#)
        let id = try #require(provider.client.readOne()?["callbackId"])
        _ = client.call("write", ["stream": stream, "base64": "AAAA"])
        #expect(!isFound(provider.call("read", ["stream": stream])))
        #expect(provider.call("read", ["stream": stream, "call": 99]).errorCode == "call.not_found")
        #expect(provider.call("read", ["stream": stream, "call": id]) == ["base64": "AAAA"])
        // The caller can take the other end of a stream that the provider makes for the call. After the call, the
        // provider cannot make another one for it.
        let own = provider.call("new", ["call": id])["stream"] ?? .null
        provider.client.send(#"{"callbackId":\#(id.text),"result":\#(own.text)}"#)
        #expect(provider.call("new", ["call": id]).errorCode == "call.not_found")
        _ = client.client.read()
        #expect(isFound(client.call("close", ["stream": own])))
    }

    @Test("A provider whose call has ended cannot take streams of the caller's later calls")
    func providerAfterCall() throws {
        let provider = StreamClient(bench, uid: Bench.daemonUID)
        provider.client.send(#"{"task":"bridge.register","options":{"tasks":["scan"]},"callbackId":"r"}"#)
        _ = provider.client.read()
        let client = StreamClient(bench)
        client.client.send(#"{"task":"scan","callbackId":"s"}"#)
        let id = try #require(provider.client.readOne()?["callbackId"])
        provider.client.send(#"{"callbackId":\#(id.text),"result":1}"#)
        _ = client.client.read()
        let stream = JSON.string(client.make())
        #expect(provider.call("read", ["stream": stream, "call": id]).errorCode == "call.not_found")
        #expect(!isFound(provider.call("read", ["stream": stream])))
    }

    @Test("An interceptor can take the stream of the call that it decides about")
    func interceptor() {
        let guardHost = FakeHost()
        let second = bench.add(
            "guard", tasks: [], guardHost, interceptors: [InterceptorDescription(name: "look", tasks: ["work"])])
        let client = StreamClient(bench)
        let stream = JSON.string(client.make())
        client.client.send(#"{"task":"work","options":\#(stream.text),"callbackId":"w"}"#)
        _ = client.call("write", ["stream": stream, "base64": "AAAA"])
        let interceptor = StreamPlugin(bench, second)
        #expect(
            interceptor.call("read", ["stream": stream], for: guardHost.started[0].handle) == ["base64": "AAAA"])
    }

    @Test("A plugin process does not have the ends of another process of the plugin")
    func processes() {
        let client = StreamClient(bench)
        let stream = JSON.string(client.make())
        client.client.send(#"{"task":"work","options":\#(stream.text),"callbackId":"w"}"#)
        let first = StreamHolder()
        let (one, two) = (
            StreamPlugin(bench, bench.instance, holder: first),
            StreamPlugin(bench, bench.instance, holder: StreamHolder())
        )
        _ = client.call("write", ["stream": stream, "base64": "AAAA"])
        #expect(one.call("read", ["stream": stream, "bytes": 1], for: bench.host.started[0].handle)["base64"] != nil)
        #expect(!isFound(two.call("read", ["stream": stream])))
        #expect(!isFound(two.call("read", ["stream": stream], for: bench.host.started[0].handle)))
        bench.runtime.leaveStreams(of: first)
        #expect(client.call("write", ["stream": stream, "base64": "AAAA"]).errorCode == "stream.closed")
    }

    @Test("An end can be taken once: a second reader of the same user does not find the stream")
    func once() {
        let (writer, first, second) = (StreamClient(bench), StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        first.begin("read", ["stream": stream])
        #expect(!isFound(second.call("read", ["stream": stream])))
        #expect(!isFound(second.call("write", ["stream": stream, "base64": "AAAA"])))
        #expect(writer.call("read", ["stream": stream]).errorCode == "stream.invalid")
    }

    @Test("A plugin cannot name a call in its options; it calls on behalf of one")
    func pluginNamesCall() {
        #expect(plugin().call("new", ["call": 5]).errorCode == "options.invalid")
    }

    @Test("A failed call ends the streams that were made for it; a successful call does not")
    func failedCall() {
        let client = StreamClient(bench)
        let plugin = plugin()
        for fails in [true, false] {
            client.client.send(#"{"task":"work","callbackId":"w"}"#)
            let handle = bench.host.started[bench.host.started.count - 1].handle
            let stream = plugin.call("new", [:], for: handle)["stream"] ?? .null
            if fails {
                bench.instance.fail(handle, BridgeError("photos.gone", "the photo is gone"))
            } else {
                bench.reply(bench.host.started.count - 1, "1")
            }
            _ = client.client.read()
            let write = plugin.call("write", ["stream": stream, "base64": "AAAA"])
            #expect(write["error"]?["data"]?["error"]?["code"] == (fails ? "photos.gone" : nil))
            #expect(isFound(client.call("read", ["stream": stream])) == !fails)
        }
    }
}
