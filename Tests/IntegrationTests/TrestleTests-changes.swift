import BridgeJSON
import Glibc
import TestSupport
import Testing

extension TrestleTests {
    @Test("kill ends a call that calls has listed")
    func kill() throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            let client = try daemon.connect()
            try client.send(#"{"task":"slow","callbackId":1}"#)
            _ = try provider.receive()
            let calls = try daemon.home.trestle("calls").output.split(separator: "\n").map {
                try JSON(parsing: String($0))
            }
            let number = try #require(calls.first { $0["task"] == "slow" }?["call"])
            #expect(try daemon.home.trestle("kill", number.text).end == .exited(0))
            #expect(try client.receive()["error"]?["code"] == "call.cancelled")
        }
    }

    @Test("user manages accounts; passwords are read from standard input")
    func users() throws {
        try withDaemon { daemon in
            let home = daemon.home
            let client = try daemon.connect()
            #expect(try home.trestle("user", "add", "ann", input: "correct horse battery staple\n").end == .exited(0))
            let list = try home.trestle("user", "list")
            #expect(try JSON(parsing: list.output)["user"] == "ann", "\(list.output)")
            let login: JSON = ["user": "ann", "password": "correct horse battery staple"]
            #expect(try client.result("login", login)["user"] == "ann")
            let again = try home.trestle("user", "add", "ann", input: "another long password\n")
            #expect(again.end == .exited(1))
            #expect(again.errors.contains("ann"))
            #expect(try home.trestle("user", "passwd", "ann", input: "another long password\n").end == .exited(0))
            #expect(try client.call("login", login)["error"]?["code"] == "login.failed")
            #expect(try home.trestle("user", "remove", "ann").end == .exited(0))
            #expect(try home.trestle("user", "list").output == "")
        }
    }
}
