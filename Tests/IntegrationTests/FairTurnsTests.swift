import BridgeJSON
import Glibc
import TestSupport
import Testing

private let canBeSomebodyElse = geteuid() == 0 && exists("/usr/bin/setpriv") && exists("/usr/bin/socat")

@Suite(
    "Turns between several users", .blocking,
    .enabled(if: canBeSomebodyElse, "needs root, setpriv and socat"))
struct FairTurnsTests {
    /// Runs `body` with a daemon to which another user is connected in the meantime.
    private func withSharedDaemon(_ configuration: String = "", _ body: (DaemonProcess) throws -> Void) throws {
        let home = try DaemonHome("socket_mode = \"0666\"\n\(configuration)")
        chmod(home.folder.path, 0o711)
        try withDaemon(in: home) { daemon in
            let other = try SpawnedProcess(
                "/usr/bin/setpriv",
                [
                    "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/socat", "-u",
                    "UNIX-CONNECT:\(home.socketPath)", "STDOUT",
                ])
            defer { other.signal(SIGKILL) }
            try daemon.connect().result("bridge.sessions") { sessions in
                sessions["sessions"]?.arrayValue?.contains { $0["uid"] == 65534 } == true
            }
            try body(daemon)
        }
    }

    @Test("Each call gets its callback, in the order of the calls, while many connections flood the daemon")
    func floods() throws {
        try withSharedDaemon { daemon in
            var senders = try (0..<20).map { _ in
                Sender(try daemon.connect(), EchoFlood(count: 2_000, optionsBytes: 256))
            }
            let quiet = try daemon.connect()
            // Sends as much as the sockets accept before anything is read.
            for index in senders.indices { _ = try senders[index].sendWhatFits() }
            #expect(try quiet.result("Echo", 1) == 1)
            for index in senders.indices { try senders[index].pump() }
        }
    }

    @Test("Messages of a megabyte, and a client that does not read for a while, are served")
    func large() throws {
        try withSharedDaemon { daemon in
            var sender = Sender(try daemon.connect(), EchoFlood(count: 32, optionsBytes: 1_000_000 / 16 * 16))
            try sender.pump()
            var late = Sender(try daemon.connect(), EchoFlood())
            try late.stuff(daemon, boundBytes: 4 << 20)
            try late.pump()
        }
    }

    @Test("Messages of clients that disconnect at once are processed, also while others flood the daemon")
    func goesAway() throws {
        try withSharedDaemon { daemon in
            let listener = try daemon.connect()
            _ = try listener.result("bridge.subscribe", ["events": ["seen"]])
            var senders = try (0..<20).map { _ in
                Sender(try daemon.connect(), EchoFlood(count: 2_000, optionsBytes: 256))
            }
            for index in senders.indices { _ = try senders[index].sendWhatFits() }
            for number in 0..<50 {
                let leaving = try daemon.connect()
                for part in 0..<10 {
                    try leaving.send(
                        #"{"task":"bridge.publish","options":{"event":"seen","data":\#(number * 10 + part)}}"#)
                }
                leaving.close()
            }
            var seen: Set<Int64> = []
            while seen.count < 500 {
                let event = try listener.receive { $0["event"] == "seen" }
                #expect(seen.insert(try #require(event["data"]?.int64Value)).inserted)
            }
            for index in senders.indices { try senders[index].pump() }
        }
    }

    @Test("A client that closes its sending side gets all its callbacks, then the end of input")
    func halfClose() throws {
        try withSharedDaemon { daemon in
            let flood = EchoFlood(count: 500, optionsBytes: 64)
            let clients = try (0..<10).map { _ in try daemon.connect() }
            for client in clients {
                for id in 0..<flood.count { try client.send(bytes: flood.call(id)) }
                client.shutdownWrite()
            }
            for client in clients {
                for id in 0..<flood.count { #expect(flood.isCallback(try client.receiveLine() ?? [], of: id)) }
                #expect(try client.receiveLine() == nil)
            }
        }
    }

    @Test("Every rule of the protocol holds")
    func conformance() throws {
        try withSharedDaemon { daemon in
            let run = try daemon.home.trestle("conformance", "--step-timeout", "10m")
            let lines = try run.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
            for line in lines where line["outcome"] != "passed" { Issue.record("\(line.text)") }
            #expect(run.end == .exited(0))
        }
    }
}
