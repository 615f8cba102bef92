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

    @Test("shows a question with its buttons, as critical and without expiry, and returns the pressed button")
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

    @Test("escapes text that the service would interpret as markup")
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

    @Test("lets the user answer prompts if the service supports replies, and otherwise passes them on")
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

    @Test("passes alerts with several buttons on if the service has no buttons; dismissing a note answers it")
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

    @Test("shows several alerts at once and matches their answers in any order")
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

    @Test("accepts signals only from the service that shows the notification, with known keys")
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

    @Test("an alert that expires, or whose dismissal is not an answer, goes to the next presenter")
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

    @Test("accepts the closing of a notification before the service has answered the call that shows it")
    func early() throws {
        try withDesktop { desktop, service in
            let note = try desktop.alert(["content": "Done."])
            _ = try service.show(beforehand: { try service.close($0) })
            #expect(try desktop.answer(note) == ["button": "OK", "presenter": "client"])
        }
    }

    @Test("removes an alert that is cancelled or not answered in time")
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

    @Test("open alerts go to the next presenter when the service ends; its successor is asked for its capabilities")
    func serviceLeaves() throws {
        try withDesktop { desktop, service in
            let question = try desktop.alert(["content": "Shall I?", "kind": "confirm"])
            _ = try service.show()
            try service.leave()
            #expect(try desktop.answer(question) == byLog)
            // No service is running.
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

    @Test("starts without a service, reports this, and shows alerts once a service is running")
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

    @Test("SIGTERM removes the notifications and passes their alerts to the next presenter")
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

    @Test("exits with 75 if the session bus ends, and the open alerts go to the next presenter")
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

    @Test("removes its notifications when the daemon ends, and shows the alerts of the next daemon")
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

    @Test("exits with 69 without a session bus, and the error states a remedy")
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
