import BridgeJSON
import Glibc
import Testing

import TestSupport

@testable import trestle

@Suite(
    "The desktop presenter", .blocking,
    .enabled(if: SessionBusProcess.isPossible, "needs dbus-daemon, of the package of that name"))
struct DesktopTests {
    private let byLog: JSON = ["button": "OK", "presenter": "log"]

    @Test("shows a question with its buttons, urgently and without an end, and answers what was pressed")
    func confirm() throws {
        try withDesktop { desktop, service in
            let question = try desktop.alert(["title": "Update", "content": "Shall I?\nNow?", "kind": "confirm"])
            let shown = try service.show()
            #expect(shown.summary == "Update" && shown.body == "Shall I?\nNow?")
            #expect(shown.actions == ["0", "OK", "1", "Cancel"])
            #expect(shown.hints == ["urgency": .byte(2)] && shown.expiryMilliseconds == 0)
            try service.press("1", of: shown)
            #expect(try desktop.answer(question) == ["button": "Cancel", "presenter": "client"])
            #expect(try desktop.presenter.stop() == .exited(143))
        }
    }

    @Test("escapes what the service would take for markup")
    func markup() throws {
        try withDesktop(capabilities: ["actions", "body", "body-markup"]) { desktop, service in
            let note = try desktop.alert(["title": "a<b", "content": "<b>&c"])
            let shown = try service.show()
            #expect(shown.summary == "a<b" && shown.body == "&lt;b&gt;&amp;c")
            #expect(shown.hints == ["urgency": .byte(1)])
            try service.close(shown)
            #expect(try desktop.answer(note) == ["button": "OK", "presenter": "client"])
        }
    }

    @Test("has prompts answered where the service lets somebody write, and hands them on where it does not")
    func prompt() throws {
        let name: JSON = ["content": "Who?", "kind": "prompt", "defaultText": "me"]
        try withDesktop(capabilities: ["actions", "body", "inline-reply"]) { desktop, service in
            for (written, text) in [("Ann", "Ann"), ("", "me")] {
                let question = try desktop.alert(name)
                let shown = try service.show()
                #expect(shown.actions == ["inline-reply", "OK", "1", "Cancel"])
                #expect(shown.hints["x-kde-reply-placeholder-text"] == .string("me"))
                try service.emit("NotificationReplied", shown.number, .string(written))
                #expect(try service.awaitClosing() == shown.number)
                #expect(try desktop.answer(question)["text"] == .string(text))
            }
        }
        try withDesktop { desktop, service in
            let question = try desktop.alert(name)
            #expect(try desktop.answer(question) == ["button": "OK", "presenter": "log", "text": "me"])
            #expect(desktop.daemon.log.contains("presenter.unsupported"))
        }
    }

    @Test("hands on what has several buttons where the service has none; a note is taken by dismissing it")
    func withoutActions() throws {
        try withDesktop(capabilities: ["body"]) { desktop, service in
            #expect(try desktop.answer(try desktop.alert(["content": "Shall I?", "kind": "confirm"])) == byLog)
            let note = try desktop.alert(["content": "Done.", "btn": "Fine"])
            let shown = try service.show()
            #expect(shown.actions == [])
            try service.close(shown)
            #expect(try desktop.answer(note) == ["button": "Fine", "presenter": "client"])
        }
    }

    @Test("shows several alerts together, and matches their answers in any order")
    func several() throws {
        try withDesktop { desktop, service in
            let questions = try (0..<3).map { number in
                let question = try desktop.alert(["content": "Which?", "buttons": ["a", "b", "c"]])
                return (question, try service.show(), number)
            }
            for (question, shown, number) in [questions[2], questions[0], questions[1]] {
                try service.press(String(number), of: shown)
                let label = JSON.string(["a", "b", "c"][number])
                #expect(try desktop.answer(question) == ["button": label, "presenter": "client"])
            }
        }
    }

    @Test("listens to nobody but the service that shows the notification")
    func stranger() throws {
        try withDesktop { desktop, service in
            let question = try desktop.alert(["content": "Shall I?", "kind": "confirm"])
            let shown = try service.show()
            let stranger = try FakeNotifications(desktop.bus.address, named: false)
            try stranger.emit("ActionInvoked", shown.number, .string("0"), to: shown.presenter)
            try service.emit("ActionInvoked", shown.number + 1, .string("0"))
            try service.emit("ActionInvoked", shown.number, .string("no such key"))
            try service.emit("ActionInvoked", shown.number, .string("1"))
            #expect(try desktop.answer(question) == ["button": "Cancel", "presenter": "client"])
        }
    }

    @Test("an alert that is dismissed where that is no answer, or expires, goes to the next presenter")
    func dismissed() throws {
        try withDesktop { desktop, service in
            let choice = try desktop.alert(["content": "Which?", "buttons": ["OK", "b"]])
            try service.close(try service.show())
            #expect(try desktop.answer(choice) == byLog)
            let note = try desktop.alert(["content": "Done."])
            try service.close(try service.show(), reason: 1)
            #expect(try desktop.answer(note) == byLog)
            #expect(desktop.daemon.log.contains("alert.dismissed"))
        }
    }

    @Test("hears a service that closes a notification before it has answered the call")
    func early() throws {
        try withDesktop { desktop, service in
            let note = try desktop.alert(["content": "Done."])
            _ = try service.show(beforehand: { try service.close($0) })
            #expect(try desktop.answer(note) == ["button": "OK", "presenter": "client"])
        }
    }

    @Test("takes an alert away that is withdrawn, or was not answered in time")
    func withdrawn() throws {
        try withDesktop { desktop, service in
            let question = try desktop.alert(["content": "Shall I?", "kind": "confirm"])
            let shown = try service.show()
            try desktop.client.send(["cancel": question])
            #expect(try service.awaitClosing() == shown.number)
            #expect(try desktop.answer(question)["code"] == "call.cancelled")
            let late = try desktop.alert(["content": "Shall I?", "kind": "confirm", "timeout": 50])
            let shownLate = try service.show()
            #expect(try service.awaitClosing() == shownLate.number)
            #expect(try desktop.answer(late) == byLog)
        }
    }

    @Test("open alerts go to the next presenter when the service leaves; its successor is asked what it can do")
    func serviceLeaves() throws {
        try withDesktop { desktop, service in
            let question = try desktop.alert(["content": "Shall I?", "kind": "confirm"])
            _ = try service.show()
            try service.leave()
            #expect(try desktop.answer(question) == byLog)
            // Nobody is there.
            #expect(try desktop.answer(try desktop.alert(["content": "Shall I?", "kind": "confirm"])) == byLog)
            #expect(desktop.daemon.log.contains("presenter.unavailable"))
            let next = try FakeNotifications(desktop.bus.address, capabilities: ["body", "body-markup"])
            let note = try desktop.alert(["content": "a & b"])
            try next.awaitQuestion()
            let shown = try next.show()
            #expect(shown.body == "a &amp; b")
            try next.close(shown)
            #expect(try desktop.answer(note) == ["button": "OK", "presenter": "client"])
        }
    }

    @Test("begins without a service, says so, and shows alerts once there is one")
    func noService() throws {
        try withDaemon { daemon in
            let bus = try SessionBusProcess()
            let desktop = try DesktopSession(daemon, bus)
            #expect(desktop.presenter.errors.contains("no notification service yet"), "\(desktop.presenter.errors)")
            #expect(try desktop.answer(try desktop.alert(["content": "Done."])) == byLog)
            let service = try FakeNotifications(bus.address)
            let note = try desktop.alert(["content": "Done."])
            try service.awaitQuestion()
            try service.press("0", of: try service.show())
            #expect(try desktop.answer(note) == ["button": "OK", "presenter": "client"])
        }
    }

    // MARK: The end

    @Test("SIGTERM takes the notifications away, and hands their alerts to the next presenter")
    func terminated() throws {
        try withDesktop { desktop, service in
            let questions = try (0..<2).map { _ in
                let question = try desktop.alert(["content": "Shall I?", "kind": "confirm"])
                return (question, try service.show().number)
            }
            desktop.presenter.process.signal(SIGTERM)
            #expect(try Set([service.awaitClosing(), service.awaitClosing()]) == Set(questions.map(\.1)))
            for (question, _) in questions { #expect(try desktop.answer(question) == byLog) }
            #expect(try desktop.presenter.process.wait() == .exited(143))
            #expect(desktop.daemon.log.contains("the desktop presenter is ending"))
            #expect(try desktop.client.call("ui.alert", ["content": "x"])["error"]?["code"] == "task.not_found")
        }
    }

    @Test("a session bus that ends is a failure to try again later, and the alerts go on")
    func busEnds() throws {
        try withDesktop { desktop, service in
            let question = try desktop.alert(["content": "Shall I?", "kind": "confirm"])
            _ = try service.show()
            desktop.bus.process.signal(SIGKILL)
            #expect(try desktop.answer(question) == byLog)
            #expect(try desktop.presenter.process.wait() == .exited(75))
            let errors = desktop.presenter.errors
            #expect(errors.contains("trestle: the connection to the session bus was lost"), "\(errors)")
        }
    }

    @Test("a daemon that ends leaves no notification behind, and the alerts of the next one are shown")
    func daemonEnds() throws {
        try withDesktop { desktop, service in
            _ = try desktop.alert(["content": "Shall I?", "kind": "confirm"])
            let shown = try service.show()
            desktop.daemon.signal(SIGKILL)
            #expect(try service.awaitClosing() == shown.number)
            _ = try desktop.daemon.wait()
            try withDaemon(in: desktop.daemon.home) { daemon in
                let client = try daemon.connect()
                try client.result("bridge.tasks") { $0.text.contains(#""ui.alert""#) }
                try client.send(["task": "Alert", "options": ["content": "Done."], "callbackId": 1])
                try service.press("0", of: try service.show())
                #expect(try client.receive { $0["callbackId"] == 1 }["result"]?["presenter"] == "client")
                #expect(desktop.presenter.errors.contains("the connection to the daemon was lost"))
                #expect(try desktop.presenter.stop() == .exited(143))
            }
        }
    }

    @Test("without a session bus it says so, with what to do, and ends with 69")
    func noBus() throws {
        try withDaemon { daemon in
            let cases = [
                ([], "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR"),
                (["DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere/bus"], "no such file or directory"),
                (["XDG_RUNTIME_DIR=\(daemon.home.folder.path)"], "no such file or directory"),
            ]
            for (environment, reason) in cases {
                let run = try run(
                    Paths.program("trestle"), ["--socket", daemon.home.socketPath, "present", "--desktop"],
                    environment: environment)
                #expect(run.end == .exited(69))
                #expect(run.errors.contains(reason), "\(run.errors)")
                #expect(run.errors.contains("systemctl --user start trestle-present"), "\(run.errors)")
                #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
            }
        }
    }
}
