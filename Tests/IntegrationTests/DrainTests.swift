import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("A daemon that receives a termination signal", .blocking)
struct DrainTests {
    /// Returns a client with the specified number of open calls of a task, and the provider, which has not answered
    /// them.
    private func waiting(_ daemon: DaemonProcess, calls: Int) throws -> (client: Wire, provider: Wire, ids: [JSON]) {
        let provider = try daemon.connect()
        _ = try provider.result("bridge.register", ["tasks": ["slow"]])
        let client = try daemon.connect()
        for id in 0..<calls { try client.send(#"{"task":"slow","callbackId":\#(id)}"#) }
        let ids = try (0..<calls).map { _ in try #require(try provider.receive()["callbackId"]) }
        return (client, provider, ids)
    }

    /// Returns a client that receives the event when draining begins.
    private func observer(_ daemon: DaemonProcess) throws -> Wire {
        let observer = try daemon.connect()
        _ = try observer.result("bridge.subscribe", ["events": ["daemon.draining"]])
        return observer
    }

    private func awaitDraining(_ observer: Wire) throws {
        _ = try observer.receive { $0["event"] == "daemon.draining" }
    }

    @Test("ends open calls after drain_timeout: each gets exactly one callback, and the status is 0")
    func hangingCalls() throws {
        try withDaemon("drain_timeout = \"300ms\"") { daemon in
            let (client, provider, _) = try waiting(daemon, calls: 300)
            daemon.signal(SIGTERM)
            let callbacks = try client.receiveAll()
            #expect(callbacks.count == 300)
            #expect(Set(callbacks.compactMap { $0["callbackId"]?.int64Value }) == Set(0..<300))
            #expect(callbacks.allSatisfy { $0["error"]?["code"] == "daemon.stopping" })
            #expect(callbacks.allSatisfy { $0["error"]?["data"]?["started"] == true })
            // The provider received the cancellations.
            #expect(try provider.receiveAll().count { $0["cancel"] != nil } == 300)
            #expect(try daemon.wait() == .exited(0))
        }
    }

    @Test("lets open calls finish, and ends as soon as the last one has finished")
    func finishingCalls() throws {
        // With this drain_timeout the daemon does not end a call before the test ends.
        try withDaemon("drain_timeout = \"10m\"") { daemon in
            let (client, provider, ids) = try waiting(daemon, calls: 20)
            let observer = try observer(daemon)
            daemon.signal(SIGTERM)
            try awaitDraining(observer)
            for id in ids { try provider.send(["callbackId": id, "result": "done"]) }
            let callbacks = try client.receiveAll()
            #expect(callbacks.map { $0["callbackId"]?.int64Value } == Array(0..<20))
            #expect(callbacks.allSatisfy { $0["result"] == "done" })
            #expect(try daemon.wait() == .exited(0))
        }
    }

    @Test("accepts no connections and no calls, and removes its socket before it ends")
    func noNewClients() throws {
        try withDaemon("drain_timeout = \"10m\"") { daemon in
            let (client, provider, ids) = try waiting(daemon, calls: 1)
            let observer = try observer(daemon)
            daemon.signal(SIGTERM)
            try awaitDraining(observer)
            #expect(throws: TestFailure.self) { try daemon.connect() }
            #expect(!exists(daemon.home.socketPath))
            let refusal = try observer.call("Echo")["error"]
            #expect(refusal?["code"] == "daemon.stopping")
            #expect(refusal?["data"]?["started"] == false)
            try provider.send(["callbackId": ids[0], "result": 1])
            #expect(try client.receiveAll().count == 1)
            #expect(try daemon.wait() == .exited(0))
        }
    }

    @Test("answers calls that were in its sockets at the signal, also those of clients not yet accepted")
    func bytesInTheSocket() throws {
        try withDaemon { daemon in
            let known = try daemon.connect()
            _ = try known.result("bridge.hello")
            // While the daemon is stopped, its sockets fill up and the signal stays pending.
            daemon.signal(SIGSTOP)
            let unknown = try daemon.connect()
            for id in 0..<200 {
                for client in [known, unknown] {
                    try client.send(#"{"task":"Echo","options":\#(id),"callbackId":\#(id)}"#)
                }
            }
            daemon.signal(SIGTERM)
            daemon.signal(SIGCONT)
            for client in [known, unknown] {
                let callbacks = try client.receiveAll()
                #expect(callbacks.map { $0["callbackId"]?.int64Value } == Array(0..<200))
                #expect(callbacks.allSatisfy { $0["result"] != nil || $0["error"]?["code"] == "daemon.stopping" })
            }
            #expect(try daemon.wait() == .exited(0))
        }
    }

    @Test("answers all calls of a slow reader if this continues to read")
    func slowReader() throws {
        try withDaemon("limits.unread_bytes = \"64KiB\"") { daemon in
            let client = try daemon.connect()
            let observer = try observer(daemon)
            var sender = Sender(client, EchoFlood(count: 64 * 1_024, optionsBytes: 1_024))
            try sender.stuff(daemon, boundBytes: 64 * 1_024)
            let calls = try #require(sender.callsSent)
            daemon.signal(SIGTERM)
            // When the connection of the observer has ended, the daemon has begun to close all connections.
            _ = try observer.receiveAll()
            let callbacks = try client.receiveAll()
            #expect(callbacks.map { $0["callbackId"]?.int64Value } == (0..<calls).map(Int64.init))
            #expect(callbacks.allSatisfy { $0["result"] != nil || $0["error"]?["code"] == "daemon.stopping" })
            #expect(try daemon.wait() == .exited(0))
        }
    }

    @Test("is not delayed by a client that never reads")
    func deafClient() throws {
        try withDaemon("limits.unread_bytes = \"64KiB\"") { daemon in
            let client = try daemon.connect()
            var sender = Sender(client, EchoFlood(count: 64 * 1_024, optionsBytes: 1_024))
            try sender.stuff(daemon, boundBytes: 64 * 1_024)
            #expect(try daemon.stop() == .exited(0))
            #expect(try !client.receiveAll().isEmpty)
        }
    }

    @Test("ends immediately at a second signal", arguments: [SIGTERM, SIGINT])
    func secondSignal(signal: Int32) throws {
        try withDaemon("drain_timeout = \"10m\"") { daemon in
            _ = try waiting(daemon, calls: 1)
            let observer = try observer(daemon)
            daemon.signal(SIGTERM)
            try awaitDraining(observer)
            daemon.signal(signal)
            #expect(try daemon.wait() == .exited(128 + signal))
        }
    }

    @Test("handles SIGINT like SIGTERM, and logs the signal and its end")
    func interrupt() throws {
        try withDaemon { daemon throws in
            daemon.signal(SIGINT)
            #expect(try daemon.wait() == .exited(0))
            #expect(daemon.log.contains("SIGINT received: draining 0 calls"))
            #expect(daemon.log.contains("stopped"))
        }
    }
}
