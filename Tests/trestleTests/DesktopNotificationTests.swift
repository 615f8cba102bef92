import BridgeJSON
import Testing

@testable import trestle

/// The capabilities of a service that supports everything.
private let everything = ["actions", "body", "body-markup", "inline-reply"]

private func notification(_ options: JSON, _ capabilities: [String] = everything) throws -> DesktopNotification {
    try DesktopNotification(PresentedAlert(options), NotificationCapabilities(capabilities))
}

@Suite struct DesktopNotificationTests {
    @Test("Each button is an action; a prompt's first action is the inline reply")
    func actions() throws {
        #expect(try notification(["content": "x"]).actions == ["0", "OK"])
        #expect(try notification(["content": "x", "kind": "confirm"]).actions == ["0", "OK", "1", "Cancel"])
        #expect(try notification(["content": "x", "buttons": ["a\nb", "c"]]).actions == ["0", "a b", "1", "c"])
        #expect(try notification(["content": "x", "kind": "prompt"]).actions == ["inline-reply", "OK", "1", "Cancel"])
        #expect(try notification(["content": "x"], ["body"]).actions == [])
    }

    @Test("Only an alert that requires a decision is urgent")
    func urgency() throws {
        #expect(try !notification(["content": "x"]).isUrgent)
        #expect(try !notification(["content": "x", "btn": "Fine"]).isUrgent)
        for question in [["content": "x", "kind": "confirm"], ["content": "x", "buttons": ["a", "b"]]] as [JSON] {
            #expect(try notification(question).isUrgent)
        }
    }

    @Test(
        "Text is shown literally, whether or not the service interprets markup, and without control characters",
        arguments: [
            (["actions", "body"], "a\u{FFFD}<b>", "1 < 2 & \"3\"\n<i>"),
            (["actions", "body", "body-markup"], "a\u{FFFD}<b>", "1 &lt; 2 &amp; \"3\"\n&lt;i&gt;"),
            (["actions"], "a\u{FFFD}<b>: 1 < 2 & \"3\" <i>", ""),
        ])
    func texts(capabilities: [String], summary: String, body: String) throws {
        let shown = try notification(["title": "a\u{0}<b>", "content": "1 < 2 & \"3\"\n<i>"], capabilities)
        #expect(shown.summary == summary)
        #expect(shown.body == body)
    }

    @Test("A summary is never empty")
    func untitled() throws {
        for title in [nil, ""] as [JSON] {
            #expect(try notification(["title": title, "content": "x"]).summary == "Trestle")
            #expect(try notification(["title": title, "content": "x"], []).summary == "x")
        }
    }

    @Test(
        "An alert whose answer the service cannot return is refused as unsupported",
        arguments: [
            (["content": "x", "kind": "prompt"], ["actions", "body"]),
            (["content": "x", "kind": "prompt", "btn": "a"], ["actions", "body"]),
            (["content": "x", "kind": "confirm"], ["body"]), (["content": "x", "buttons": ["a", "b"]], []),
        ] as [(JSON, [String])])
    func unsupported(options: JSON, capabilities: [String]) {
        let error = #expect(throws: BridgeError.self) { try notification(options, capabilities) }
        #expect(error?.code == "presenter.unsupported")
    }

    // MARK: Answers

    @Test(
        "An action, a reply or an unambiguous dismissal gives the answer",
        arguments: [
            (["content": "x"], .action("0"), ["button": "OK", "index": 0]),
            (["content": "x"], .action("default"), ["button": "OK", "index": 0]),
            (["content": "x", "btn": "Fine"], .closed(2), ["button": "Fine", "index": 0]),
            (["content": "x", "kind": "confirm"], .action("1"), ["button": "Cancel", "index": 1]),
            (["content": "x", "kind": "confirm"], .closed(2), ["button": "Cancel", "index": 1]),
            (["content": "x", "buttons": ["a", "a"]], .action("1"), ["button": "a", "index": 1]),
            (["content": "x", "kind": "prompt"], .replied("y"), ["button": "OK", "index": 0, "text": "y"]),
            (
                ["content": "x", "kind": "prompt", "defaultText": "d"], .replied(""),
                ["button": "OK", "index": 0, "text": "d"]
            ),
            (
                ["content": "x", "kind": "prompt", "defaultText": "d"], .action("1"),
                ["button": "Cancel", "index": 1, "text": "d"]
            ),
            (["content": "x", "kind": "prompt"], .closed(2), ["button": "Cancel", "index": 1, "text": ""]),
        ] as [(JSON, DesktopNotification.Event, JSON)])
    func answers(options: JSON, event: DesktopNotification.Event, answer: JSON) throws {
        #expect(try notification(options).outcome(of: event) == .success(answer))
    }

    @Test(
        "An ambiguous dismissal gives no answer",
        arguments: [
            (["content": "x"], .closed(1)), (["content": "x"], .closed(3)), (["content": "x"], .closed(4)),
            (["content": "x", "buttons": ["a", "b"]], .closed(2)),
            (["content": "x", "kind": "confirm", "buttons": ["OK", "Cancel"]], .closed(2)),
            (["content": "x", "kind": "prompt", "btn": "a"], .closed(2)),
        ] as [(JSON, DesktopNotification.Event)])
    func dismissed(options: JSON, event: DesktopNotification.Event) throws {
        guard case .failure(let error)? = try notification(options).outcome(of: event) else {
            Issue.record("it was answered")
            return
        }
        #expect(error.code == "alert.dismissed")
    }

    @Test(
        "An event that does not determine the answer is ignored",
        arguments: [
            (["content": "x", "kind": "confirm"], .action("default")),
            (["content": "x", "kind": "confirm"], .action("2")), (["content": "x"], .replied("text")),
            // The reply arrives in a separate event.
            (["content": "x", "kind": "prompt"], .action("inline-reply")),
        ] as [(JSON, DesktopNotification.Event)])
    func waited(options: JSON, event: DesktopNotification.Event) throws {
        #expect(try notification(options).outcome(of: event) == nil)
    }
}
