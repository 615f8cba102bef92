import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

extension MonitorTests {
    @Test("A watcher gets no lines about its own calls, and lines to watchers are not traffic")
    func noFeedback() {
        let first = monitor()
        let second = monitor()
        #expect(kinds(first) == ["event", "call", "callback"])
        second.send(#"{"task":"bridge.ping","callbackId":1}"#)
        second.send(#"{"task":"Nope","callbackId":2}"#)
        #expect(second.read().allSatisfy { $0["event"] == nil })
        #expect(kinds(first) == ["call", "callback", "refused"])
        #expect(first.read() == [])
        #expect(second.read() == [])
    }

    @Test("A watcher that stops or disconnects gets no more lines, and monitoring ends without watchers")
    func ends() {
        let watcher = monitor()
        let other = monitor()
        #expect(bench.runtime.monitor.isWatched)
        watcher.send(#"{"task":"bridge.monitor","options":{"stop":true},"callbackId":1}"#)
        _ = watcher.read()
        bench.runtime.hangUp(other.session)
        #expect(!bench.runtime.monitor.isWatched)
        #expect(bench.runtime.monitor.watcherCount == 0)
        bench.client().send(#"{"task":"bridge.ping","callbackId":1}"#)
        #expect(watcher.read() == [])
    }

    @Test("A second call of bridge.monitor replaces the filter")
    func again() {
        let watcher = monitor(#"{"task":"work"}"#)
        watcher.send(#"{"task":"bridge.monitor","options":{"task":"one"},"callbackId":1}"#)
        _ = watcher.read()
        let caller = bench.client()
        caller.send(#"{"task":"work","callbackId":1}"#)
        caller.send(#"{"task":"one","callbackId":2}"#)
        #expect(lines(watcher).map { $0["task"] } == ["one"])
        #expect(bench.runtime.monitor.watcherCount == 1)
    }

    @Test("A slow watcher loses the oldest lines, gets their number, and delays no calls")
    func slowWatcher() {
        var limits = RuntimeLimits()
        limits.queuedEvents = 10
        let bench = Bench(limits: limits)
        let watcher = bench.client()
        watcher.send(#"{"task":"bridge.monitor","options":{"task":"work"},"callbackId":"m"}"#)
        _ = watcher.read()
        Array(repeating: UInt8(ascii: "\n"), count: Session.slowReaderBytes).withUnsafeBytes {
            watcher.session.output.append($0)
        }
        let caller = bench.client()
        for id in 0..<30 {
            caller.send(#"{"task":"work","callbackId":\#(id)}"#)
            bench.reply(id, "\(id)")
            bench.runtime.writeOutput()
        }
        #expect(caller.read().count == 30)
        #expect(watcher.session.output.count == Session.slowReaderBytes)
        #expect(watcher.read().isEmpty)
        let messages = watcher.read()
        #expect(messages.first == ["event": "bridge.events_dropped", "data": ["count": 50]])
        #expect(messages.count == 11)
        #expect(messages.last?["data"]?["result"] == 29)
        #expect(bench.runtime.statistics.droppedEvents == 50)
    }

    @Test("A watcher gets a limited number of lines in each turn of the loop")
    func manyLinesInOneTurn() {
        let watcher = monitor(#"{"task":"work"}"#)
        let caller = bench.client()
        for id in 0..<(TrafficMonitor.maximumLinesInTurn + 50) {
            caller.send(#"{"task":"work","options":"\#(String(repeating: "x", count: 30))","callbackId":\#(id)}"#)
        }
        #expect(kinds(watcher).count == TrafficMonitor.maximumLinesInTurn)
        #expect(watcher.readOne() == ["event": "bridge.events_dropped", "data": ["count": 50]])
        bench.runtime.writeOutput()
        bench.reply(0, "0")
        #expect(kinds(watcher) == ["callback"])
    }

    @Test("The daemon's requests to plugins are shown without configurations and session states")
    func lifecycle() {
        let watcher = monitor()
        bench.instance.perform(.configure, options: ["key": "hunter2"], timeout: nil) { _ in }
        bench.reply(0, #"{"states":{"1":"hunter2"}}"#)
        let text = watcher.read().map(\.text)
        #expect(text.count == 2)
        #expect(text.allSatisfy { $0.contains(#""task":"plugin.configure""#) && !$0.contains("hunter2") })
    }

    @Test("A watcher continues in the next daemon, with the same filter")
    func handover() throws {
        let record = bench.runtime.record(of: monitor(#"{"task":"work","uid":900}"#).session)
        #expect(record.traffic == TrafficRecord(task: "work", session: nil, uid: 900, payloadBytes: 1024))
        #expect(bench.runtime.record(of: bench.client().session).traffic == nil)
        let next = Bench()
        let session = next.runtime.resume(record, peer: PeerIdentity(uid: 0, gid: 0, pid: 1), transport: nil)
        next.client(uid: 0).send(#"{"task":"work","callbackId":1}"#)
        #expect(session.output.isEmpty)
        next.client(uid: 900).send(#"{"task":"work","callbackId":1}"#)
        #expect(String(decoding: session.output.bytes, as: UTF8.self).contains(#""kind":"call""#))
        var broken = record
        broken.number = 77
        broken.traffic?.task = "a*b"
        _ = next.runtime.resume(broken, peer: PeerIdentity(uid: 0, gid: 0, pid: 1), transport: nil)
        #expect(next.runtime.monitor.watcherCount == 1)
    }
}
