import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("A daemon that gets a signal to end", .blocking)
struct DrainTests {
    /// A client that has called a task so many times that another client provides and has not answered yet.
    private func waiting(_ daemon: DaemonProcess, calls: Int) throws -> (client: Wire, provider: Wire, ids: [JSON]) {
        let provider = try daemon.connect()
        _ = try provider.result("bridge.register", ["tasks": ["slow"]])
        let client = try daemon.connect()
        for id in 0..<calls { try client.send(#"{"task":"slow","callbackId":\#(id)}"#) }
        let ids = try (0..<calls).map { _ in try #require(try provider.receive()["callbackId"]) }
        return (client, provider, ids)
    }

    /// A client that gets the event when draining has begun.
    private func observer(_ daemon: DaemonProcess) throws -> Wire {
        let observer = try daemon.connect()
        _ = try observer.result("bridge.subscribe", ["events": ["daemon.draining"]])
        return observer
    }

    private func awaitDraining(_ observer: Wire) throws {
        _ = try observer.receive { $0["event"] == "daemon.draining" }
    }

    @Test("ends calls that hang when their time is over: each gets exactly one callback, and the status is 0")
    func hangingCalls() throws {
        try withDaemon("drain_timeout = \"300ms\"") { daemon in
            let (client, provider, _) = try waiting(daemon, calls: 300)
            daemon.signal(SIGTERM)
            let callbacks = try client.receiveAll()
            #expect(callbacks.count == 300)
            #expect(Set(callbacks.compactMap { $0["callbackId"]?.int64Value }) == Set(0..<300))
            #expect(callbacks.allSatisfy { $0["error"]?["code"] == "daemon.stopping" })
            #expect(callbacks.allSatisfy { $0["error"]?["data"]?["started"] == true })
            // The provider got the cancel.
            #expect(try provider.receiveAll().count { $0["cancel"] != nil } == 300)
            #expect(try daemon.wait() == .exited(0))
        }
    }

    @Test("lets calls finish that can, and ends as soon as the last one has")
    func finishingCalls() throws {
        // With the default drain_timeout nothing here would be over in time.
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

    @Test("accepts nobody and no call any more, and its socket is gone before it is")
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

    @Test("answers what its sockets held when the signal came, also those of clients that it had not accepted")
    func bytesInTheSocket() throws {
        try withDaemon { daemon in
            let known = try daemon.connect()
            _ = try known.result("bridge.hello")
            // While the daemon stands still, its sockets fill up; the signal waits for it among them.
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

    @Test("answers all calls of a client that is behind with its reading, if it reads on")
    func slowReader() throws {
        try withDaemon("limits.unread_bytes = \"64KiB\"") { daemon in
            let client = try daemon.connect()
            let observer = try observer(daemon)
            var sender = Sender(client, EchoFlood(count: 64 * 1_024, optionsBytes: 1_024))
            try sender.stuff(daemon, boundBytes: 64 * 1_024)
            let calls = try #require(sender.callsSent)
            daemon.signal(SIGTERM)
            // Where the observer's connection has ended, the daemon has begun to close all of them.
            _ = try observer.receiveAll()
            let callbacks = try client.receiveAll()
            #expect(callbacks.map { $0["callbackId"]?.int64Value } == (0..<calls).map(Int64.init))
            #expect(callbacks.allSatisfy { $0["result"] != nil || $0["error"]?["code"] == "daemon.stopping" })
            #expect(try daemon.wait() == .exited(0))
        }
    }

    @Test("is not kept by a client that never reads")
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

    @Test("by SIGINT does as it does by SIGTERM, and says how it ended")
    func interrupt() throws {
        try withDaemon { daemon throws in
            daemon.signal(SIGINT)
            #expect(try daemon.wait() == .exited(0))
            #expect(daemon.log.contains("SIGINT came: draining 0 calls"))
            #expect(daemon.log.contains("stopped"))
        }
    }
}
