import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Events")
struct EventTests {
    let bench = Bench()

    @Test("An event reaches each session that subscribed to its name or a prefix, once and in order")
    func delivery() {
        let exact = bench.subscriber("a.b")
        let beginning = bench.subscriber("a.*", "a.b")
        let all = bench.subscriber("*")
        let other = bench.subscriber("a")
        let sender = bench.client()
        _ = all.read()
        sender.send(#"{"task":"bridge.publish","options":{"event":"a.b","data":{"n":1}},"callbackId":1}"#)
        sender.send(#"{"task":"bridge.publish","options":{"event":"a.c"},"callbackId":2}"#)
        let first: JSON = ["event": "a.b", "data": ["n": 1]]
        let second: JSON = ["event": "a.c", "data": nil]
        #expect(exact.read() == [first])
        #expect(beginning.read() == [first, second])
        #expect(all.read() == [first, second])
        #expect(other.read().isEmpty)
        #expect(sender.read().map { $0["result"] } == [[:], [:]])
    }

    @Test("A subscription is released when it is removed or its session ends", arguments: [false, true])
    func released(bySessionsEnd: Bool) {
        let client = bench.subscriber("a.b")
        weak let subscription = client.session.subscriptions.values.first
        #expect(subscription != nil)
        if bySessionsEnd {
            bench.runtime.hangUp(client.session)
        } else {
            client.send(#"{"task":"bridge.unsubscribe","options":{"events":["a.b"]}}"#)
        }
        #expect(subscription == nil)
    }

    private func publish(_ options: String, uid: UInt32 = 0, at other: Bench? = nil) -> JSON? {
        let bench = other ?? bench
        let sender = bench.client(uid: uid)
        sender.send(#"{"task":"bridge.publish","options":\#(options),"callbackId":1}"#)
        defer { bench.runtime.hangUp(sender.session) }
        return sender.readOne()
    }

    private func subscribe(_ client: FakeClient, _ patterns: String...) -> [JSON] {
        let list = patterns.map { "\"\($0)\"" }.joined(separator: ",")
        client.send(#"{"task":"bridge.subscribe","options":{"events":[\#(list)]},"callbackId":"s"}"#)
        return client.read()
    }

    @Test("The last retained event of a name is sent to later subscribers, once and after the callback")
    func retained() {
        for options in [
            #"{"event":"door.a","data":1,"retain":true}"#, #"{"event":"lamp","data":"on","retain":true}"#,
            #"{"event":"door.a","data":2,"retain":true}"#, #"{"event":"door.a","data":3}"#,
            #"{"event":"door.b","retain":true}"#,
        ] { #expect(publish(options)?["result"] == [:]) }
        let client = bench.client()
        let first = subscribe(client, "door.a", "door.*")
        #expect(first.first?["result"] != nil)
        #expect(
            Array(first.dropFirst())
                == [
                    ["event": "door.a", "retained": true, "data": 2],
                    ["event": "door.b", "retained": true, "data": nil],
                ])
        // A retained event that the client has received is not sent again.
        #expect(subscribe(client, "*").dropFirst() == [["event": "lamp", "retained": true, "data": "on"]])
        #expect(subscribe(client, "door.a").count == 1)
        #expect(publish(#"{"event":"door.a","forget":true}"#)?["result"] == [:])
        #expect(subscribe(bench.client(), "door.a").count == 1)
        // Removing a retained event sends no event. The pattern `*` also matches events about sessions.
        #expect(client.read().allSatisfy { $0["event"]?.stringValue?.hasPrefix("session.") == true })
    }

    @Test("Retained events are limited in number and bytes; a refused event leaves the previous one in place")
    func retainedBounds() {
        for number in 0..<1_024 { #expect(publish(#"{"event":"e\#(number)","retain":true}"#)?["result"] != nil) }
        #expect(publish(#"{"event":"more","retain":true}"#)?.errorCode == "quota.exceeded")
        #expect(publish(#"{"event":"e7","data":7,"retain":true}"#)?["result"] != nil)
        #expect(publish(#"{"event":"e8","forget":true}"#)?["result"] != nil)
        #expect(publish(#"{"event":"more","retain":true}"#)?["result"] != nil)
        let text = String(repeating: "x", count: 4 << 20)
        #expect(publish(#"{"event":"e7","data":"\#(text)","retain":true}"#)?.errorCode == "quota.exceeded")
        #expect(subscribe(bench.client(), "e7").last == ["event": "e7", "retained": true, "data": 7])
        #expect(bench.runtime.retainedEvents.count == 1_024)
    }

    @Test("Each user has limits for the number and bytes of retained events, also in the next daemon")
    func retainedOfUser() {
        var rule = PolicyRule(.allow, [.call, .publish, .replace], file: "50-test.toml", line: 1)
        rule.uids = [5, 6]
        let policy = Policy(daemonUID: Bench.daemonUID, rules: [rule])
        bench.runtime.apply(policy)
        for number in 0..<256 {
            #expect(publish(#"{"event":"e\#(number)","retain":true}"#, uid: 5)?["result"] != nil)
        }
        let next = Bench()
        next.runtime.apply(policy)
        next.runtime.retain(bench.runtime.retainedEvents)
        for daemon in [bench, next] {
            #expect(
                publish(#"{"event":"more","retain":true}"#, uid: 5, at: daemon)?["error"]?["data"]
                    == ["quota": "retained_events", "limit": 256, "of": "uid 5"])
            // Another user's event replaces one of these events, and so makes room for this user.
            #expect(publish(#"{"event":"e0","retain":true}"#, uid: 6, at: daemon)?["result"] != nil)
            #expect(publish(#"{"event":"more","retain":true}"#, uid: 5, at: daemon)?["result"] != nil)
            let text = String(repeating: "x", count: 1 << 20)
            #expect(
                publish(#"{"event":"e1","data":"\#(text)","retain":true}"#, uid: 6, at: daemon)?["error"]?["data"]
                    == ["quota": "retained_bytes", "limit": 1_048_576, "of": "uid 6"])
            #expect(publish(#"{"event":"e1","data":"\#(text)","retain":true}"#, at: daemon)?["result"] != nil)
        }
    }

    @Test("Current subscribers see whether an event was published as retained")
    func retainedLive() {
        let client = bench.client()
        #expect(subscribe(client, "lamp").count == 1)
        _ = publish(#"{"event":"lamp","data":1,"retain":true}"#)
        _ = publish(#"{"event":"lamp","data":2}"#)
        #expect(client.read() == [["event": "lamp", "retained": true, "data": 1], ["event": "lamp", "data": 2]])
    }

    @Test("Retained events are passed on to another daemon")
    func retainedElsewhere() {
        _ = publish(#"{"event":"lamp","data":["on"],"retain":true}"#)
        let next = Bench()
        next.runtime.retain(bench.runtime.retainedEvents)
        let client = next.client()
        #expect(subscribe(client, "lamp").last == ["event": "lamp", "retained": true, "data": ["on"]])
    }

    @Test("A client receives no more events of a name that it has unsubscribed from")
    func unsubscribe() {
        let client = bench.subscriber("a", "b")
        client.send(#"{"task":"bridge.unsubscribe","options":{"events":["a"]},"callbackId":1}"#)
        #expect(client.readOne()?["result"] == ["events": ["b"]])
        bench.runtime.publish("a", data: nil)
        bench.runtime.publish("b", data: nil)
        #expect(client.read().map { $0["event"] } == ["b"])
    }

    @Test("A pattern that is empty or has a star before its end is refused", arguments: ["", "*.a", "a*b", "**"])
    func badPatterns(pattern: String) {
        let client = bench.client()
        client.send(#"{"task":"bridge.subscribe","options":{"events":["ok","\#(pattern)"]},"callbackId":1}"#)
        let answer = client.readOne()
        #expect(answer?.errorCode == "options.invalid")
        #expect(answer?["error"]?["data"]?["path"] == "$.events[1]")
    }

    @Test(
        "A name that is too long or has characters that are not allowed cannot be published or subscribed to",
        arguments: ["$(id)", "a b", "a;b", "é", "\u{212A}", "a\u{7F}", "\u{202E}a", String(repeating: "a", count: 129)])
    func badNames(name: String) {
        let client = bench.client()
        for (task, options) in [
            ("bridge.subscribe", #"{"events":["\#(name)"]}"#), ("bridge.subscribe", #"{"events":["\#(name)*"]}"#),
            ("bridge.publish", #"{"event":"\#(name)"}"#), ("bridge.publish", #"{"event":"\#(name)","retain":true}"#),
        ] {
            client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":1}"#)
            #expect(client.readOne()?.errorCode == "options.invalid", "\(task) \(options)")
        }
        let listener = bench.subscriber("*")
        Array("1".utf8).withUnsafeBytes { data in
            #expect(
                bench.runtime.events.publish(name, data: data, to: nil, direct: false, for: bench.instance.account)
                    != nil)
            #expect(
                bench.runtime.events.publish(
                    "A-1_b.c/d:e", data: data, to: nil, direct: false, for: bench.instance.account) == nil)
        }
        #expect(listener.read().map { $0["event"] } == ["A-1_b.c/d:e"])
        bench.runtime.retain([RetainedEvent(event: name, data: 1, uid: 5)])
        #expect(bench.runtime.retainedEvents == [])
    }

    @Test("A subscription with too many patterns adds none of them")
    func tooManyPatterns() {
        let client = bench.subscriber("first")
        let names = (0..<256).map { "\"more.\($0)\"" }.joined(separator: ",")
        client.send(#"{"task":"bridge.subscribe","options":{"events":[\#(names)]},"callbackId":1}"#)
        #expect(client.readOne()?.errorCode == "quota.exceeded")
        client.send(#"{"task":"bridge.subscribe","options":{"events":["first"]},"callbackId":2}"#)
        #expect(client.readOne()?["result"] == ["events": ["first"]])
    }

    @Test(
        "A client cannot publish events of the daemon and its plugins",
        arguments: ["session.closed", "daemon.draining", "daemon.reloaded", "plugin.started", "work.done"])
    func reservedNames(name: String) {
        let client = bench.subscriber("*")
        for more in ["", #","retain":true"#, #","forget":true"#] {
            client.send(#"{"task":"bridge.publish","options":{"event":"\#(name)"\#(more)},"callbackId":1}"#)
            let answer = client.readOne()
            #expect(answer?.errorCode == "options.invalid")
            #expect(answer?["error"]?["data"]?["path"] == "$.event")
        }
    }

    @Test("A slow reader loses the oldest events, gets their number, and then the rest in order")
    func slowReader() {
        var limits = RuntimeLimits()
        limits.queuedEvents = 10
        let bench = Bench(limits: limits)
        let client = bench.subscriber("e")
        Array(repeating: UInt8(ascii: "\n"), count: Session.slowReaderBytes).withUnsafeBytes {
            client.session.output.append($0)
        }
        for number in 0..<25 { bench.runtime.publish("e", data: .number(JSONNumber(number))) }
        #expect(client.session.output.count == Session.slowReaderBytes)
        #expect(client.read().isEmpty)
        let messages = client.read()
        #expect(messages.first == ["event": "bridge.events_dropped", "data": ["count": 15]])
        #expect(messages.dropFirst().compactMap { $0["data"]?.int64Value } == Array(15..<25))
        #expect(bench.runtime.statistics.droppedEvents == 15)
    }

    @Test("The event queue of a slow reader is also limited in bytes")
    func boundedBytes() {
        var queue = EventQueue()
        var limits = RuntimeLimits()
        limits.queuedEventBytes = 100
        for _ in 0..<50 { _ = queue.append(line(ofBytes: 30), limits: limits) }
        #expect(queue.queuedBytes <= 100)
        #expect(queue.count == 3)
        #expect(queue.append(line(ofBytes: 101), limits: limits) == 4)
        #expect(queue.takeUnreportedDrops() == 51)
    }

    private func line(ofBytes count: Int) -> EventLine {
        let output = OutputBuffer()
        for _ in 0..<count { output.append(0) }
        return EventLine(tail: SharedLine(output))
    }

    @Test("Opening and closing of sessions is published; plugins are also notified of changes of pages")
    func lifecycle() {
        let watcher = bench.subscriber("session.*")
        let client = bench.client()
        client.send(#"{"task":"bridge.publish","options":{"event":"lifecycle.background"}}"#)
        bench.runtime.hangUp(client.session)
        #expect(watcher.read().map { $0["event"] } == ["session.opened", "session.closed"])
        let changes = bench.host.changes.filter { $0.1 == client.session.number }.map(\.0)
        #expect(changes == [.opened, .background, .closed])
    }
}
