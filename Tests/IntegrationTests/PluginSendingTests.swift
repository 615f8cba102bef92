import BridgeJSON
import TestSupport
import Testing

@Suite("Messages of a plugin that get no answer", .blocking)
struct PluginSendingTests {
    /// Returns the retained events that a new subscriber receives.
    private func kept(_ daemon: DaemonProcess) throws -> [JSON] {
        let client = try daemon.connect()
        defer { client.close() }
        _ = try client.result("bridge.subscribe", ["events": ["fixture.kept.*"]])
        // Retained events precede the callback of a later call.
        try client.send(#"{"task":"bridge.ping","callbackId":"end"}"#)
        var events: [JSON] = []
        while true {
            let message = try client.receive()
            if message["callbackId"] == "end" { return events }
            events.append(message)
        }
    }

    private func event(_ number: Int, _ data: JSON) -> JSON {
        ["event": .string("fixture.kept.\(number)"), "retained": true, "data": data]
    }

    @Test("are retained events for later subscribers, until the plugin removes them", arguments: ["none", "process"])
    func retained(isolation: String) throws {
        try withFixture(isolation) { _, daemon, client in
            _ = try client.result("fixture.retain", ["numbers": [1]])
            _ = try client.result("fixture.retain", ["numbers": [2, 1]])
            #expect(try kept(daemon) == [event(2, 2), event(1, 2)])
            _ = try client.result("fixture.forget")
            #expect(try kept(daemon) == [event(2, 2)])
        }
    }

    @Test("are at most 256 retained events, and further ones are not sent", arguments: ["none", "process"])
    func bounded(isolation: String) throws {
        try withFixture(isolation) { _, daemon, client in
            let numbers = JSON.array((1...257).map { .number(JSONNumber($0)) })
            _ = try client.result("fixture.retain", ["numbers": numbers])
            #expect(try kept(daemon) == (1...256).map { event($0, 257) })
            try daemon.awaitLog("an event is not sent: ", client)
        }
    }

    @Test("are retained until the plugin is unloaded, also across a reload", arguments: ["none", "process"])
    func unloaded(isolation: String) throws {
        try withFixture(isolation) { _, daemon, client in
            _ = try client.result("fixture.retain", ["numbers": [1]])
            _ = try client.result("bridge.plugin.reload", ["name": "fixture"])
            #expect(try kept(daemon) == [event(1, 1)])
            _ = try client.result("bridge.plugin.unload", ["name": "fixture"])
            #expect(try kept(daemon).isEmpty)
        }
    }

    @Test("are calls of other tasks", arguments: ["none", "process"])
    func notifies(isolation: String) throws {
        try withFixture(isolation) { _, daemon, client in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["bell.ring"]])
            _ = try client.result("fixture.ring")
            let call = try provider.receive()
            #expect(call["task"] == "bell.ring" && call["options"] == ["times": 2])
        }
    }
}
