import BridgeJSON
import Glibc
import Testing

/// Whether this process can make others run as another user, and talk to the daemon from there.
private let canBeSomebodyElse = geteuid() == 0 && exists("/usr/bin/setpriv") && exists("/usr/bin/socat")

@Suite(
    "Another user", .blocking,
    .enabled(if: canBeSomebodyElse, "needs root, setpriv and socat"))
struct IdentityTests {
    /// Sends lines as that user; returns what came.
    private func talk(_ lines: String, uid: Int = 65_534, to daemon: DaemonProcess) throws -> ProgramRun {
        try run(
            "/usr/bin/setpriv",
            [
                "--reuid", "\(uid)", "--regid", "\(uid)", "--clear-groups", "/usr/bin/socat", "-t", "30", "-",
                "UNIX-CONNECT:\(daemon.home.socketPath)",
            ], input: lines)
    }

    @Test("cannot connect, unless the socket's mode lets him")
    func closedSocket() throws {
        try withDaemon { daemon in
            let stranger = try talk("", to: daemon)
            #expect(stranger.end != .exited(0))
            #expect(stranger.errors.contains("Permission denied"))
        }
    }

    @Test("may call nothing, is told by which rule, and sees no tasks")
    func stranger() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            let tasks = [
                "Echo", "bridge.tasks", "bridge.register", "persistence.create", "bridge.kill", "bridge.reload",
                "nobody",
            ]
            let lines = tasks.map { "{\"task\":\"\($0)\",\"callbackId\":\"\($0)\"}\n" }.joined()
            let stranger = try talk(lines, to: daemon)
            let answers = try stranger.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
            #expect(answers.count == tasks.count)
            for answer in answers where answer["callbackId"] != "nobody" {
                #expect(answer["error"]?["code"] == "permission.denied", "\(answer.text)")
                #expect(answer["error"]?["data"]?["rule"]?.stringValue?.isEmpty == false)
            }
        }
    }

    @Test("hears no events that he did not subscribe to, and cannot end others' calls by his cancels")
    func strangersCancel() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            let client = try daemon.connect()
            try client.send(#"{"task":"slow","callbackId":1}"#)
            let call = try provider.receive()
            let id = try #require(call["callbackId"])
            let lines = "{\"cancel\":1}\n{\"callbackId\":\(id.text),\"result\":\"forged\"}\n"
            #expect(try talk(lines, to: daemon).output == "")
            try provider.send(["callbackId": id, "result": "genuine"])
            #expect(try client.receive() == ["callbackId": 1, "result": "genuine"])
        }
    }

    @Test("is known by what the kernel says of him")
    func credentials() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            let observer = try daemon.connect()
            _ = try observer.result("bridge.subscribe", ["events": ["session.opened"]])
            _ = try talk("", uid: 12_345, to: daemon)
            let opened = try observer.receive { $0["event"] == "session.opened" }
            #expect(opened["data"]?["uid"] == 12_345)
        }
    }
}
