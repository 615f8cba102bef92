import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("bridge.hello and other tasks about the daemon")
struct HelloTests {
    let bench = Bench()

    @Test("bridge.hello returns protocol, session, daemon and limits; bridge.sessions lists the client's data")
    func hello() throws {
        let client = bench.client()
        client.send(
            #"{"task":"bridge.hello","options":{"client":"page","version":"2","origin":"https://a.example","page":{"url":"u","title":"t"}},"callbackId":1}"#
        )
        let result = try #require(client.readOne()?["result"])
        #expect(result["protocol"] == 1)
        #expect(result["session"] == .number(JSONNumber(client.session.number)))
        #expect(result["daemon"]?["version"] == "1.2.3")
        #expect(result["limits"]?["messageBytes"] == 1_048_576)
        let observer = bench.client()
        observer.send(#"{"task":"bridge.sessions","callbackId":2}"#)
        let session = try #require(observer.readOne()?["result"]?["sessions"]?[0])
        #expect(session["client"] == "page")
        #expect(session["origin"] == "https://a.example")
        #expect(session["page"] == ["url": "u", "title": "t"])
        #expect(session["uid"] == 0)
    }

    @Test("A session cannot change its origin; without an origin it is local")
    func origin() {
        let client = bench.client()
        #expect(client.session.origin == "local")
        client.send(#"{"task":"bridge.hello","options":{"origin":"a"},"callbackId":1}"#)
        client.send(#"{"task":"bridge.hello","options":{"origin":"a"},"callbackId":2}"#)
        client.send(#"{"task":"bridge.hello","options":{"origin":"b"},"callbackId":3}"#)
        #expect(client.read().map(\.errorCode) == [nil, nil, "permission.denied"])
        #expect(client.session.origin == "a")
    }

    @Test("Errors for invalid options contain the path, the expected type and the actual value")
    func invalidOptions() {
        let client = bench.client()
        client.send(#"{"task":"bridge.describe","options":{"task":7},"callbackId":1}"#)
        client.send(#"{"task":"bridge.kill","callbackId":2}"#)
        client.send(#"{"task":"bridge.describe","options":[],"callbackId":3}"#)
        let data = client.read().map { $0["error"]?["data"] }
        #expect(data[0] == ["path": "$.task", "expected": "a string", "got": "number 7"])
        #expect(data[1]?["path"] == "$.call")
        #expect(data[2]?["path"] == "$")
    }

    @Test("bridge.tasks lists the tasks that the caller may call, and each can be described")
    func tasks() throws {
        let client = bench.client()
        client.send(#"{"task":"bridge.tasks","callbackId":1}"#)
        let names = try #require(client.readOne()?["result"]?["tasks"]?.arrayValue).compactMap {
            $0["name"]?.stringValue
        }
        #expect(names.contains("work") && names.contains("bridge.ping"))
        #expect(!names.contains { $0.hasPrefix("bridge.session.") })
        #expect(names == names.sorted())
        bench.host.onStart = { [bench] started in if started.work == .describe { bench.reply(0, "{}") } }
        for name in names {
            client.send(#"{"task":"bridge.describe","options":{"task":"\#(name)"},"callbackId":1}"#)
            #expect(client.readOne()?["result"]?["name"] == .string(name))
        }
        client.send(#"{"task":"bridge.describe","options":{"task":"bridge.session.close"},"callbackId":1}"#)
        #expect(client.readOne()?.errorCode == "task.not_found")
    }

    @Test("bridge.ping returns the monotonic and the wall clock")
    func ping() throws {
        let client = bench.client()
        client.send(#"{"task":"bridge.ping","callbackId":1}"#)
        let result = try #require(client.readOne()?["result"])
        #expect(result["monotonicNs"] == 1_000_000_000)
        #expect((result["wallMs"]?.int64Value ?? 0) > 1_600_000_000_000)
    }
}
