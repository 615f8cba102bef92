import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "The desktop presenter with a real notification service", .blocking,
    .enabled(if: Dunst.isPossible, "needs dbus-daemon, dunst and Xvfb, of the packages dbus-daemon, dunst and xvfb"))
struct DunstTests {
    @Test("alerts are shown unchanged, pressed, dismissed and cancelled, and passed on when the service ends")
    func life() throws {
        try withDaemon { daemon in
            let bus = try SessionBusProcess()
            let dunst = try Dunst(bus)
            let desktop = try DesktopSession(daemon, bus)
            #expect(!desktop.presenter.errors.contains("no notification service"))

            let note = try desktop.alert(["title": "A <t>", "content": "1 < 2 & <b>so on</b>", "btn": "Fine"])
            try dunst.awaitShown(1)
            try dunst.press()
            #expect(try desktop.answer(note) == ["button": "Fine", "presenter": "client"])
            try dunst.awaitShown(0)
            #expect(try dunst.lastBody() == "1 &lt; 2 &amp; &lt;b&gt;so on&lt;/b&gt;")

            let choice = try desktop.alert(["content": "Which?", "buttons": ["left", "right"]])
            try dunst.awaitShown(1)
            try dunst.press("right")
            #expect(try desktop.answer(choice) == ["button": "right", "presenter": "client"])
            try dunst.awaitShown(0)

            let question = try desktop.alert(["content": "Shall I?", "kind": "confirm"])
            try dunst.awaitShown(1)
            try dunst.dismiss()
            #expect(try desktop.answer(question) == ["button": "Cancel", "presenter": "client"])

            // Dunst has no input field.
            let prompt = try desktop.alert(["content": "Who?", "kind": "prompt", "defaultText": "me"])
            #expect(try desktop.answer(prompt) == ["button": "OK", "presenter": "log", "text": "me"])

            let several = try (0..<3).map { try desktop.alert(["content": .string("\($0)?"), "kind": "confirm"]) }
            try dunst.awaitShown(3)
            try desktop.client.send(["cancel": several[1]])
            try dunst.awaitShown(2)
            dunst.process.signal(SIGKILL)
            for id in [several[0], several[2]] {
                #expect(try desktop.answer(id) == ["button": "OK", "presenter": "log"])
            }
        }
    }
}
