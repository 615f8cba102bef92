import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "Another user", .blocking,
    .enabled(if: AnotherUser.isPossible, "needs root, setpriv and socat"))
struct IdentityTests {
    @Test("cannot connect unless the mode of the socket permits it")
    func closedSocket() throws {
        try withDaemon { daemon in
            let stranger = try AnotherUser.talk("", to: daemon)
            #expect(stranger.end != .exited(0))
            #expect(stranger.errors.contains("Permission denied"))
        }
    }

    @Test("may call no task, and each error states the rule")
    func stranger() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            let tasks = [
                "Echo", "bridge.tasks", "bridge.register", "persistence.create", "bridge.kill", "bridge.reload",
                "nobody",
            ]
            let lines = tasks.map { "{\"task\":\"\($0)\",\"callbackId\":\"\($0)\"}\n" }.joined()
            let stranger = try AnotherUser.talk(lines, to: daemon)
            let answers = try stranger.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
            #expect(answers.count == tasks.count)
            for answer in answers where answer["callbackId"] != "nobody" {
                #expect(answer["error"]?["code"] == "permission.denied", "\(answer.text)")
                #expect(answer["error"]?["data"]?["rule"]?.stringValue?.isEmpty == false)
            }
        }
    }

    @Test("cannot cancel or answer calls of other users")
    func strangersCancel() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            let client = try daemon.connect()
            try client.send(#"{"task":"slow","callbackId":1}"#)
            let call = try provider.receive()
            let id = try #require(call["callbackId"])
            let lines = "{\"cancel\":1}\n{\"callbackId\":\(id.text),\"result\":\"forged\"}\n"
            #expect(try AnotherUser.talk(lines, to: daemon).output == "")
            try provider.send(["callbackId": id, "result": "genuine"])
            #expect(try client.receive() == ["callbackId": 1, "result": "genuine"])
        }
    }

    @Test("is identified by the credentials from the kernel")
    func credentials() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            let observer = try daemon.connect()
            _ = try observer.result("bridge.subscribe", ["events": ["session.opened"]])
            _ = try AnotherUser.talk("", uid: 12_345, to: daemon)
            let opened = try observer.receive { $0["event"] == "session.opened" }
            #expect(opened["data"]?["uid"] == 12_345)
        }
    }

    // MARK: Rules

    private func codes(_ tasks: [String], uid: Int, to daemon: DaemonProcess) throws -> [String: String] {
        let lines = tasks.map { "{\"task\":\"\($0)\",\"callbackId\":\"\($0)\"}\n" }.joined()
        let output = try AnotherUser.talk(lines, uid: uid, to: daemon).output
        let answers = try output.split(separator: "\n").map { try JSON(parsing: String($0)) }
        return Dictionary(
            uniqueKeysWithValues: answers.map {
                ($0["callbackId"]?.stringValue ?? "", $0["error"]?["code"]?.stringValue ?? "answered")
            })
    }

    @Test("may make the calls that a rule allows, from its reload until the reload after its removal")
    func rules() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            let root = try daemon.connect()
            let tasks = ["Echo", "bridge.ping", "bridge.status"]
            let denied = Dictionary(uniqueKeysWithValues: tasks.map { ($0, "permission.denied") })
            #expect(try codes(tasks, uid: 12_345, to: daemon) == denied)
            let file = "policy.d/10.toml"
            mkdir(daemon.home.folder.file("policy.d"), 0o755)
            try daemon.home.folder.write(
                "[[rule]]\nallow = \"call\"\nnames = [\"Echo\", \"bridge.p*\"]\nuid = 12345\n", to: file)
            #expect(try root.result("bridge.reload")["applied"] == ["policy"])
            #expect(
                try codes(tasks, uid: 12_345, to: daemon) == [
                    "Echo": "answered", "bridge.ping": "answered", "bridge.status": "permission.denied",
                ])
            #expect(try codes(tasks, uid: 12_346, to: daemon) == denied)
            let explained = try root.result("bridge.explain", ["task": "Echo", "uid": 12_345])
            #expect(explained["allowed"] == true && explained["line"] == 1)
            #expect(explained["file"]?.stringValue?.hasSuffix(file) == true)
            try daemon.home.folder.write("[[rule]]\nallow = \"cal\"\n", to: file)
            #expect(try root.call("bridge.reload")["error"]?["code"] == "configuration.invalid")
            #expect(try codes(["Echo"], uid: 12_345, to: daemon) == ["Echo": "answered"], "the rules before hold")
            try daemon.home.folder.write("", to: file)
            #expect(try root.result("bridge.reload")["applied"] == ["policy"])
            #expect(try codes(tasks, uid: 12_345, to: daemon) == denied)
        }
    }

    @Test("is a member of all groups that the kernel reports")
    func groups() throws {
        try withDaemon("socket_mode = \"0666\"") { daemon in
            mkdir(daemon.home.folder.file("policy.d"), 0o755)
            try daemon.home.folder.write(
                "[[rule]]\nallow = \"call\"\nnames = \"Echo\"\ngroup = 54321\n", to: "policy.d/10.toml")
            let root = try daemon.connect()
            _ = try root.result("bridge.reload")
            let call = "{\"task\":\"Echo\",\"callbackId\":1}\n"
            for (groups, isAllowed) in [("7,54321", true), ("7,8", false)] {
                let answer = try run(
                    "/usr/bin/setpriv",
                    [
                        "--reuid", "12345", "--regid", "12345", "--groups", groups, "/usr/bin/socat", "-t", "30", "-",
                        "UNIX-CONNECT:\(daemon.home.socketPath)",
                    ], input: call)
                let hasResult = try JSON(parsing: answer.output)["result"] != nil
                #expect(hasResult == isAllowed, "\(answer.output)")
            }
        }
    }
}
