import Glibc
import TaskKit
import TaskKitTesting
import Testing

@testable import AlertTasks

@Suite("Alert", .timeLimit(.minutes(20)))
struct AlertTaskTests {
    private func withBridge(
        presenters: JSON? = nil, _ body: (TestBridge, TestSession) async throws -> Void
    ) async throws {
        let bridge = try await TestBridge.start(
            .alert(), configuration: presenters.map { ["alert": ["presenters": $0]] } ?? [:])
        try await body(bridge, await bridge.session())
        await bridge.stop()
    }

    private func error(_ session: TestSession, _ options: JSON) async -> BridgeError? {
        do {
            try await session.call("Alert", options)
            return nil
        } catch {
            return error as? BridgeError
        }
    }

    /// Returns the log lines that show an alert.
    private func shown(_ bridge: TestBridge) -> [String] {
        bridge.logLines().filter { $0.contains("Alert of session") }
    }

    @Test("The plugin passes its own check")
    func conformance() throws {
        try Plugin.alert().check()
    }

    @Test("Without a client, an alert is logged and answered with the first button")
    func logPresenter() async throws {
        try await withBridge { bridge, page in
            let result = try await page.call("Alert", ["title": "Hello", "content": "a\nb", "btn": "好的"])
            #expect(
                result == [
                    "title": "Hello", "content": "a\nb", "btn": "好的", "button": "好的", "index": 0, "presenter": "log",
                ])
            let lines = shown(bridge)
            #expect(lines.count == 1)
            #expect(lines.first?.contains(#""Hello": "a\nb"; answered "好的""#) == true)
        }
    }

    @Test("A page with endless alerts does not fill the log, and a local program's alert is still logged")
    func manyAlerts() async throws {
        try await withBridge { bridge, local in
            let page = await bridge.session(origin: "https://a.example")
            for _ in 0..<300 { try await page.call("Alert", ["content": "again"]) }
            let written = shown(bridge).count
            #expect(written > 0 && written <= 200)
            try await local.call("Alert", ["content": "mine"])
            #expect(shown(bridge).count == written + 1)
            await bridge.advance(by: .seconds(1))
            try await page.call("Alert", ["content": "again"])
            #expect(shown(bridge).count == written + 2)
            let sentence = "lines of the plugin about calls of uid \(getuid()) were left out"
            let lost = bridge.logLines().filter { $0.contains(sentence) }
            #expect(lost.count == 1)
        }
    }

    @Test("All options are returned unchanged, unknown ones too")
    func echo() async throws {
        try await withBridge { _, page in
            let text =
                #"{"content":"c","n":1.50,"big":123456789012345678901234567890,"e":1E+2,"o":{"z":[1,null]},"t":true}"#
            let result = try await page.call("Alert", try JSON(parsing: text))
            #expect(result.text == text.dropLast() + #","button":"OK","index":0,"presenter":"log"}"#)
        }
    }

    @Test("Options with the names of result members are not taken for an answer")
    func overwritten() async throws {
        try await withBridge { _, page in
            let options: JSON = ["content": "c", "button": "X", "index": 9, "text": "t", "presenter": "p"]
            let result = try await page.call("Alert", options)
            #expect(result == ["content": "c", "button": "OK", "index": 0, "presenter": "log"])
        }
    }

    @Test("A prompt without a client is answered with its default text")
    func unseenPrompt() async throws {
        try await withBridge { _, page in
            let result = try await page.call("Alert", ["content": "?", "kind": "prompt", "defaultText": "d"])
            #expect(result["text"] == "d" && result["button"] == "OK")
            let empty = try await page.call("Alert", ["content": "?", "kind": "prompt"])
            #expect(empty["text"] == "")
        }
    }

    @Test(
        "Invalid options are refused with their path",
        arguments: [
            ("{}", "$.content"), ("null", "$"), ("[]", "$"), (#"{"content":1}"#, "$.content"),
            (#"{"content":null}"#, "$.content"), (#"{"content":"c","title":[]}"#, "$.title"),
            (#"{"content":"c","buttons":[]}"#, "$.buttons"), (#"{"content":"c","buttons":"OK"}"#, "$.buttons"),
            (#"{"content":"c","buttons":["A",2]}"#, "$.buttons[1]"),
            (#"{"content":"c","buttons":["A",""]}"#, "$.buttons[1]"), (#"{"content":"c","btn":""}"#, "$.btn"),
            (#"{"content":"c","kind":"shout"}"#, "$.kind"), (#"{"content":"c","timeout":0}"#, "$.timeout"),
            (#"{"content":"c","timeout":-5}"#, "$.timeout"), (#"{"content":"c","timeout":1.5}"#, "$.timeout"),
            (#"{"content":"c","timeout":1e30}"#, "$.timeout"), (#"{"content":"c","defaultText":{}}"#, "$.defaultText"),
        ])
    func invalidOptions(text: String, path: String) async throws {
        try await withBridge { bridge, page in
            let error = await error(page, try JSON(parsing: text))
            #expect(error?.code == .optionsInvalid)
            #expect(error?.data?["path"]?.stringValue == path)
            #expect(shown(bridge).isEmpty)
        }
    }

    @Test("A client that registered ui.alert gets the options and answers")
    func clientPresenter() async throws {
        try await withBridge { bridge, page in
            let person = try await Person(on: bridge)
            let options: JSON = ["content": "Really?", "kind": "confirm", "buttons": ["Yes", "No"], "x": 1]
            let id = await page.begin("Alert", options)
            #expect(await person.sees() == .shown(options))
            person.answers(["button": "No", "index": 1])
            let result = try await page.outcome(of: id)
            #expect(
                result == [
                    "content": "Really?", "kind": "confirm", "buttons": ["Yes", "No"], "x": 1, "button": "No",
                    "index": 1,
                    "presenter": "client",
                ])
            #expect(shown(bridge).isEmpty)
        }
    }

    @Test(
        "Valid answers of a client are accepted",
        arguments: [
            (#"{"kind":"confirm"}"#, #"{"button":"Cancel","index":1}"#, 1, nil),
            (#"{"kind":"confirm"}"#, #"{"button":"Cancel"}"#, 1, nil),
            (#"{"kind":"confirm"}"#, #"{"index":1}"#, 1, nil),
            (#"{"kind":"prompt"}"#, #"{"button":"OK","index":0,"text":"Ada"}"#, 0, "Ada"),
            (#"{"kind":"prompt"}"#, #"{"button":"Cancel","index":1}"#, 1, nil),
            (#"{}"#, #"{"button":"OK","index":0,"text":"not asked for","more":1}"#, 0, nil),
            (#"{"buttons":["A","A"]}"#, #"{"button":"A","index":1}"#, 1, nil),
            (#"{"buttons":["A","A"]}"#, #"{"button":"A"}"#, 0, nil),
        ])
    func answers(options: String, answer: String, index: Int64, text: String?) async throws {
        try await withBridge { bridge, page in
            let person = try await Person(on: bridge)
            person.answers(try JSON(parsing: answer))
            var object = try JSON(parsing: options).objectValue ?? [:]
            object["content"] = "c"
            let result = try await page.call("Alert", .object(object))
            #expect(result["presenter"] == "client")
            #expect(result["index"]?.int64Value == index)
            #expect(result["text"]?.stringValue == text)
        }
    }

    @Test("A client's long answer is accepted, and its unknown members are ignored")
    func longAnswer() async throws {
        try await withBridge { bridge, page in
            let person = try await Person(on: bridge)
            let more = JSON.array(Array(repeating: ["x": []], count: 10_000))
            person.answers(["more": more, "button": "OK", "text": "Ada"])
            let result = try await page.call("Alert", ["content": "c", "kind": "prompt"])
            #expect(result["presenter"] == "client" && result["text"] == "Ada")
        }
    }

    @Test(
        "An invalid answer is logged, and the next presenter is used",
        arguments: [
            "{}", "null", "[]", #""OK""#, #"{"button":"Maybe"}"#, #"{"index":2}"#, #"{"index":-1}"#, #"{"index":"0"}"#,
            #"{"button":"OK","index":1}"#, #"{"button":1}"#, #"{"button":"OK","text":1}"#,
        ])
    func badAnswers(answer: String) async throws {
        try await withBridge { bridge, page in
            let person = try await Person(on: bridge)
            person.answers(try JSON(parsing: answer))
            let result = try await page.call("Alert", ["content": "c", "kind": "prompt"])
            #expect(result["presenter"] == "log")
            #expect(bridge.logLines().contains { $0.hasPrefix("warning") && $0.contains("ui.alert") })
            #expect(shown(bridge).count == 1)
        }
    }

    @Test("If the client fails, the next presenter is used")
    func failingClient() async throws {
        try await withBridge { bridge, page in
            let client = await bridge.session()
            try await client.provide("ui.alert") { _ in throw BridgeError("ui.broken", "no display") }
            let result = try await page.call("Alert", ["content": "c"])
            #expect(result["presenter"] == "log")
            #expect(bridge.logLines().contains { $0.contains("no display") })
        }
    }

    @Test("If the client disconnects, the next presenter is used")
    func leavingClient() async throws {
        try await withBridge { bridge, page in
            let person = try await Person(on: bridge)
            let id = await page.begin("Alert", ["content": "c"])
            _ = await person.sees()
            await person.session.hangUp()
            #expect(try await page.outcome(of: id)["presenter"] == "log")
        }
    }

    @Test("If the client does not answer within the timeout, the next presenter is used")
    func timeout() async throws {
        try await withBridge { bridge, page in
            let person = try await Person(on: bridge)
            let id = await page.begin("Alert", ["content": "c", "timeout": 5000])
            _ = await person.sees()
            await bridge.advance(by: .milliseconds(4999))
            #expect(shown(bridge).isEmpty)
            await bridge.advance(by: .milliseconds(1))
            #expect(try await page.outcome(of: id)["presenter"] == "log")
            #expect(await person.sees() == .withdrawn)
        }
    }

    @Test("Without a timeout, a user may answer a day later")
    func noDeadline() async throws {
        try await withBridge { bridge, page in
            let person = try await Person(on: bridge)
            let id = await page.begin("Alert", ["content": "c"])
            _ = await person.sees()
            await bridge.advance(by: .seconds(24 * 60 * 60))
            person.answers(["button": "OK"])
            #expect(try await page.outcome(of: id)["presenter"] == "client")
        }
    }

    @Test("A cancelled alert is withdrawn from the client, and no other presenter shows it")
    func cancelling() async throws {
        try await withBridge { bridge, page in
            let person = try await Person(on: bridge)
            let id = await page.begin("Alert", ["content": "c"])
            _ = await person.sees()
            await page.cancel(id)
            let error = await #expect(throws: BridgeError.self) { try await page.outcome(of: id) }
            #expect(error?.code == .callCancelled)
            #expect(await person.sees() == .withdrawn)
            // A later alert takes the same path on the same thread, so the first one has no effects after it.
            await person.session.hangUp()
            let later = try await page.call("Alert", ["content": "later"])
            #expect(later["presenter"] == "log")
            #expect(shown(bridge).count == 1)
        }
    }

    @Test("If no presenter is left, the error contains the reason of each")
    func unpresented() async throws {
        try await withBridge(presenters: ["client"]) { bridge, page in
            let error = await error(page, ["content": "c"])
            #expect(error?.code == "presenter.unavailable")
            #expect(error?.isTransient == true)
            let reasons = error?.data?["presenters"]?.arrayValue ?? []
            #expect(reasons.count == 1)
            #expect(reasons.first?["presenter"] == "client" && reasons.first?["code"] == "task.not_found")
            let person = try await Person(on: bridge)
            let id = await page.begin("Alert", ["content": "c", "timeout": 10])
            _ = await person.sees()
            await bridge.advance(by: .milliseconds(10))
            let late = await #expect(throws: BridgeError.self) { try await page.outcome(of: id) }
            #expect(late?.data?["presenters"]?[0]?["code"] == "call.timeout")
        }
    }

    @Test("Presenters are used in the configured order")
    func order() async throws {
        try await withBridge(presenters: ["log", "client"]) { bridge, page in
            let person = try await Person(on: bridge)
            person.answers(["button": "OK"])
            let result = try await page.call("Alert", ["content": "c"])
            #expect(result["presenter"] == "log")
        }
    }

    @Test(
        "A configuration without presenters, or with a repeated or unknown one, is refused with its path",
        arguments: [
            ("[]", "$.presenters"), (#"["client","client"]"#, "$.presenters[1]"),
            (#"["client","screen"]"#, "$.presenters[1]"), (#""log""#, "$.presenters"),
        ])
    func configuration(presenters: String, path: String) async throws {
        let section = try JSON(parsing: presenters)
        let error = await #expect(throws: BridgeError.self) {
            try await TestBridge.start(.alert(), configuration: ["alert": ["presenters": section]])
        }
        #expect(error?.code == .configurationInvalid)
        #expect(error?.data?["path"]?.stringValue == path)
    }
}
