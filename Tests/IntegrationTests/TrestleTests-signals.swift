import BridgeJSON
import Glibc
import TestSupport
import Testing

extension TrestleTests {
    @Test("SIGINT cancels a call: its provider is notified, and the status is 130")
    func interrupt() throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            let command = try Command(daemon.home, "call", "slow")
            let call = try provider.receive()
            #expect(try command.stop(SIGINT) == .exited(130))
            #expect(try provider.receive() == ["cancel": call["callbackId"] ?? nil])
        }
    }

    @Test("subscribe prints events as they arrive, one per line, until a signal ends it")
    func subscribe() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let command = try Command(daemon.home, "subscribe", "news.*", "other")
            try client.result("bridge.sessions") { $0.text.contains(#"["news.*","other"]"#) }
            for event in ["news.today", "unheard", "other"] as [JSON] {
                _ = try client.result("bridge.publish", ["event": event, "data": ["a": 1]])
            }
            #expect(try command.line() == #"{"event":"news.today","data":{"a":1}}"#)
            #expect(try command.line() == #"{"event":"other","data":{"a":1}}"#)
            #expect(try command.stop() == .exited(143))
            #expect(try command.line() == nil)
        }
    }

    @Test("subscribe --count ends after the specified number of events")
    func subscribeCount() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let command = try Command(daemon.home, "subscribe", "news", "--count", "2")
            try client.result("bridge.sessions") { $0.text.contains(#"["news"]"#) }
            for _ in 1...3 { _ = try client.result("bridge.publish", ["event": "news"]) }
            #expect(try command.process.wait() == .exited(0))
            #expect(try command.line() == #"{"event":"news","data":null}"#)
            #expect(try command.line() == #"{"event":"news","data":null}"#)
            #expect(try command.line() == nil)
        }
    }

    @Test("subscribe --no-reconnect reports the end of the daemon and exits with 75")
    func daemonEnds() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let command = try Command(daemon.home, "subscribe", "--no-reconnect", "news")
            try client.result("bridge.sessions") { $0.text.contains(#"["news"]"#) }
            #expect(try daemon.stop() == .exited(0))
            #expect(try command.process.wait() == .exited(75))
            #expect(command.errors.split(separator: "\n").count == 1, "\(command.errors)")
        }
    }

    @Test("subscribe and register reconnect to the next daemon after a kill, and report both")
    func reconnects() throws {
        let home = try DaemonHome()
        try withDaemon(in: home) { daemon in
            let subscriber = try Command(home, "subscribe", "news")
            let provider = try Command(home, "register", "repeat", "--", "cat")
            let client = try daemon.connect()
            try client.result("bridge.sessions") { $0.text.contains(#"["news"]"#) }
            try awaitTask("repeat", client)
            daemon.signal(SIGKILL)
            _ = try daemon.wait()
            try withDaemon(in: home) { next in
                let client = try next.connect()
                try client.result("bridge.sessions") { $0.text.contains(#"["news"]"#) }
                try awaitTask("repeat", client)
                #expect(try client.result("repeat", "hello") == "hello")
                _ = try client.result("bridge.publish", ["event": "news"])
                #expect(try subscriber.line() == #"{"event":"bridge.events_dropped","data":{"count":null}}"#)
                #expect(try subscriber.line() == #"{"event":"news","data":null}"#)
                for command in [subscriber, provider] {
                    try client.result("bridge.ping") { _ in command.errors.contains("again\n") }
                    #expect(command.errors.split(separator: "\n").count == 2, "\(command.errors)")
                    #expect(try command.stop() == .exited(143))
                }
            }
        }
    }

    @Test("register answers calls with the output of a command, and fails them if the command fails")
    func register() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let script =
                #"read line; case $line in *fail*) echo no good >&2; exit 3;; *) echo "$line" | tr a-z A-Z;; esac"#
            let command = try Command(daemon.home, "register", "shout", "--", "/bin/sh", "-c", script)
            try awaitTask("shout", client)
            #expect(try client.result("shout", "hello") == "HELLO")
            let error = try client.call("shout", "fail")["error"]
            #expect(error?["code"] == "command.failed")
            #expect(error?["message"] == "no good")
            #expect(error?["data"]?["exit"] == 3)
            #expect(try command.stop() == .exited(143))
            #expect(try client.call("shout")["error"]?["code"] == "task.not_found")
        }
    }

    @Test("register prints the errors of its command on a terminal, with control characters escaped")
    func registerOnTerminal() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let terminal = try PseudoTerminal(rows: 24, columns: 200)
            let script = #"printf 'é\033[2J\302\233\342\200\256!\nnext\n' >&2; echo 1"#
            let command = try terminal.run(
                Paths.program("trestle"),
                ["--socket", daemon.home.socketPath, "register", "odd", "--", "/bin/sh", "-c", script])
            try awaitTask("odd", client)
            #expect(try client.result("odd") == 1)
            let shown = try terminal.read(until: "next")
            #expect(shown.contains(#"é\u{1B}[2J\u{009B}\u{202E}!"#), "\(shown.debugDescription)")
            for raw in ["\u{1B}[2J", "\u{9B}", "\u{202E}"] {
                #expect(!shown.unicodeScalars.contains(raw.unicodeScalars), "\(raw.debugDescription)")
            }
            command.signal(SIGTERM)
            #expect(try command.wait() == .exited(143))
        }
    }

    @Test("register ends the command of a cancelled call, and all commands when a signal ends it")
    func registerCancel() throws {
        try withDaemon { daemon in
            let folder = try TemporaryFolder()
            let client = try daemon.connect()
            // Each command creates one file when it begins, and another when it receives SIGTERM.
            let script = """
                read mark; trap 'touch \(folder.path)/ended$mark; exit 0' TERM; touch \(folder.path)/begun$mark
                while :; do read -t 60 nothing < \(folder.path)/pipe; done
                """
            mkfifo(folder.file("pipe"), 0o600)
            let keptOpen = open(folder.file("pipe"), O_RDWR | O_CLOEXEC)
            defer { close(keptOpen) }
            let command = try Command(daemon.home, "register", "wait", "--", "/bin/bash", "-c", script)
            try awaitTask("wait", client)
            for id in [1, 2] { try client.send(#"{"task":"wait","options":\#(id),"callbackId":\#(id)}"#) }
            for id in [1, 2] { try client.result("bridge.ping") { _ in exists(folder.file("begun\(id)")) } }
            try client.send(#"{"cancel":1}"#)
            #expect(try client.receive()["error"]?["code"] == "call.cancelled")
            try client.result("bridge.ping") { _ in exists(folder.file("ended1")) }
            #expect(!exists(folder.file("ended2")))
            // No command is left when register has ended: the lifeline also ends its commands.
            #expect(try command.stop() == .exited(143))
            #expect(exists(folder.file("ended2")))
            #expect(try client.receive()["error"] != nil)
        }
    }

    private func awaitTask(_ name: JSON, _ client: Wire) throws {
        try client.result("bridge.tasks") { $0["tasks"]?.arrayValue?.contains { $0["name"] == name } == true }
    }
}
