import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("Plugins that hold ends of streams")
struct StreamHoldingTests {
    private let bench = Bench()
    private let bytes: JSON = "AAAA"

    /// The time that a stopping plugin gets, by the manual clock.
    private let limit = Duration.seconds(5)

    private final class Wait {
        var isOver = false
    }

    private func waitForIdle() -> Wait {
        let wait = Wait()
        bench.runtime.whenIdle(bench.instance, within: limit) { wait.isOver = true }
        return wait
    }

    /// Lets the plugin answer a call with a stream that it writes. Returns the stream.
    private func result(_ client: StreamClient, _ plugin: StreamPlugin) -> JSON {
        client.client.send(#"{"task":"work","callbackId":"w"}"#)
        let call = bench.host.started[0].handle
        let stream = plugin.call("new", [:], for: call)["stream"] ?? .null
        bench.reply(0, stream.text)
        #expect(client.client.readOne()?["result"] == stream)
        return stream
    }

    @Test("A stopping plugin writes its stream to the end, and is then idle", arguments: [false, true])
    func finishes(isProcess: Bool) {
        let holder = isProcess ? StreamHolder() : nil
        holder?.onChange = { [bench] in bench.instance.noteLessWork() }
        bench.host.streamHolders = [holder].compactMap(\.self)
        let (client, plugin) = (StreamClient(bench), StreamPlugin(bench, bench.instance, holder: holder))
        let stream = result(client, plugin)
        bench.runtime.retire(bench.instance)
        let wait = waitForIdle()
        for _ in 0..<10 {
            #expect(plugin.call("write", ["stream": stream, "base64": bytes])["room"] != nil)
            bench.clock.advance(.seconds(4))
            #expect(client.call("read", ["stream": stream]) == ["base64": bytes])
            bench.clock.advance(.seconds(4))
            #expect(!wait.isOver)
        }
        let end = plugin.begin("bridge.stream.close", ["stream": stream, "bytes": 30])
        #expect(!wait.isOver)
        #expect(client.call("read", ["stream": stream]) == ["end": true, "bytes": 30])
        #expect(end.value == ["bytes": 30, "complete": true])
        #expect(wait.isOver && bench.runtime.streams.count == 0)
    }

    @Test("If the reader stalls, the plugin's time ends five seconds after the last byte, and its ends break")
    func stalls() {
        let (client, plugin) = (StreamClient(bench), StreamPlugin(bench, bench.instance))
        let stream = result(client, plugin)
        _ = plugin.call("write", ["stream": stream, "base64": bytes])
        bench.clock.advance(.seconds(3))
        bench.runtime.retire(bench.instance)
        let wait = waitForIdle()
        bench.clock.advance(.milliseconds(1_999))
        #expect(!wait.isOver)
        bench.clock.advance(.milliseconds(1))
        #expect(wait.isOver)
        bench.runtime.close(bench.instance)
        #expect(client.call("read", ["stream": stream]) == ["base64": bytes])
        #expect(client.call("read", ["stream": stream]).errorCode == "stream.closed")
        #expect(bench.runtime.streams.count == 0 && bench.runtime.streams.waitingBytes == 0)
        bench.runtime.remove(bench.instance)
    }

    @Test("A running call gets the whole time when the plugin stops, and again after each read or write")
    func calls() {
        let (client, plugin) = (StreamClient(bench), StreamPlugin(bench, bench.instance))
        let stream = JSON.string(client.make())
        client.client.send(#"{"task":"slow","options":\#(stream.text),"callbackId":"s"}"#)
        let call = bench.host.started[0].handle
        bench.clock.advance(.seconds(60))
        _ = client.call("write", ["stream": stream, "base64": bytes])
        #expect(plugin.call("read", ["stream": stream], for: call)["base64"] == bytes)
        bench.clock.advance(.seconds(60))
        bench.runtime.retire(bench.instance)
        let wait = waitForIdle()
        bench.clock.advance(.seconds(4))
        let read = plugin.begin("bridge.stream.read", ["stream": stream])
        _ = client.call("write", ["stream": stream, "base64": bytes])
        #expect(read.value?["base64"] == bytes)
        bench.clock.advance(.milliseconds(4_999))
        #expect(!wait.isOver)
        bench.clock.advance(.milliseconds(1))
        #expect(wait.isOver)
    }

    @Test("When its calls have ended, streams that have already stalled for that time do not delay the stop")
    func stoodStill() {
        let (client, plugin) = (StreamClient(bench), StreamPlugin(bench, bench.instance))
        _ = result(client, plugin)
        client.client.send(#"{"task":"slow","callbackId":"s"}"#)
        bench.clock.advance(.seconds(20))
        bench.runtime.retire(bench.instance)
        let wait = waitForIdle()
        #expect(!wait.isOver)
        bench.reply(1, "1")
        #expect(wait.isOver)
    }

    @Test("A stopping plugin can make streams only for calls that it works on")
    func noFurther() {
        let (client, plugin) = (StreamClient(bench), StreamPlugin(bench, bench.instance))
        client.client.send(#"{"task":"work","callbackId":"w"}"#)
        bench.runtime.retire(bench.instance)
        #expect(plugin.call("new", [:]).errorCode == "plugin.unavailable")
        #expect(plugin.call("new", [:], for: bench.host.started[0].handle)["stream"] != nil)
    }

    @Test("A plugin that continues is idle while it holds ends, so that a handover does not wait for streams")
    func handover() {
        let (client, plugin) = (StreamClient(bench), StreamPlugin(bench, bench.instance))
        _ = result(client, plugin)
        #expect(waitForIdle().isOver)
    }

    @Test("A writer that has ended its stream with an error holds no end, even if bytes are unread")
    func left() {
        let (client, plugin) = (StreamClient(bench), StreamPlugin(bench, bench.instance))
        let stream = result(client, plugin)
        _ = plugin.call("write", ["stream": stream, "base64": bytes])
        #expect(client.call("read", ["stream": stream, "bytes": 1])["base64"] != nil)
        #expect(bench.instance.streamsMovedAt != nil)
        _ = plugin.call("close", ["stream": stream, "error": ["code": "x.y", "message": "no paper"]])
        #expect(bench.instance.streamsMovedAt == nil && bench.runtime.streams.count == 1)
        #expect(client.call("read", ["stream": stream])["base64"] != nil)
        #expect(client.call("read", ["stream": stream]).errorCode == "stream.closed")
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("When the daemon drains, the ends of a stopping plugin close with all others")
    func draining() {
        let (client, plugin) = (StreamClient(bench), StreamPlugin(bench, bench.instance))
        _ = result(client, plugin)
        bench.runtime.retire(bench.instance)
        let wait = waitForIdle()
        var isDrained = false
        bench.runtime.drain { isDrained = true }
        bench.clock.advance(.seconds(1))
        #expect(isDrained && wait.isOver)
    }
}
