import BridgeJSON
import Testing

@testable import PageBridge

extension TestPage {
    /// Makes a call of the container.
    fileprivate mutating func callAlert() throws -> (number: Int, actions: [PageSession.Action]) {
        guard let call = session.call("Alert", ["content": "x"]) else { throw Failure() }
        return call
    }
}

@Suite("The container's own calls on a page's session") struct OwnCallTests {
    private func answer(_ number: Int, _ member: String) -> [UInt8] {
        Array("{\"callbackId\":\"trestle-web-call:\(TestPage.secret):\(number)\",\(member)}\n".utf8)
    }

    @Test("a call is sent at once, and its answer ends it without reaching the page")
    func answered() throws {
        var page = TestPage.open()
        _ = page.pull()
        let call = try page.callAlert()
        guard case .send(let line) = call.actions.first else { throw Failure() }
        #expect(try JSON(parsing: line)["task"] == "Alert")
        let own = answer(call.number, "\"result\":{\"index\":0}")
        let actions = page.session.received(Array("{\"event\":\"x\"}\n".utf8) + own)
        #expect(actions.contains(.ended(call: call.number, result: ["index": 0])))
        #expect(page.delivered(actions) == "{\"event\":\"x\"}\n")
    }

    @Test("progress of a call does not end it, and an error ends it without a result")
    func failed() throws {
        var page = TestPage.open()
        let call = try page.callAlert()
        #expect(page.session.received(answer(call.number, "\"progress\":1")) == [])
        let actions = page.session.received(answer(call.number, "\"error\":{\"code\":\"busy\"}"))
        #expect(actions == [.ended(call: call.number, result: nil)])
        #expect(page.session.received(answer(call.number, "\"result\":1")) == [])
    }

    @Test("a call waits for the answer to the hello; after a refused hello it ends without being sent")
    func opening() throws {
        for isTaken in [true, false] {
            var page = TestPage()
            _ = page.commit("https://a.example/")
            _ = page.hello("https://a.example")
            let call = try page.callAlert()
            #expect(call.actions == [])
            let actions = isTaken ? page.answered() : page.refused()
            #expect(actions.contains { if case .send = $0 { true } else { false } } == isTaken)
            #expect(actions.contains(.ended(call: call.number, result: nil)) != isTaken)
        }
    }

    @Test("a new document and the end of the connection end the calls")
    func left() throws {
        var page = TestPage.open()
        let first = try page.callAlert()
        #expect(page.commit("https://a.example/2") == [.disconnect, .ended(call: first.number, result: nil)])
        #expect(page.session.call("Alert", [:]) == nil)
        var other = TestPage.open()
        let second = try other.callAlert()
        #expect(other.session.disconnected().first == .ended(call: second.number, result: nil))
    }

    @Test("a cancelled call is cancelled at the daemon, and its late answer is ignored")
    func cancelled() throws {
        var page = TestPage.open()
        _ = page.pull()
        let call = try page.callAlert()
        guard case .send(let line) = page.session.cancel(call.number).first else { throw Failure() }
        #expect(try JSON(parsing: line)["cancel"]?.stringValue?.hasSuffix(":\(call.number)") == true)
        #expect(page.session.received(answer(call.number, "\"error\":{\"code\":\"call.cancelled\"}")) == [])
        #expect(page.session.cancel(call.number) == [])
    }

    @Test("the number of pending calls is limited")
    func bound() {
        var page = TestPage.open()
        for _ in 0..<OwnCalls.maximum { #expect(page.session.call("Alert", [:]) != nil) }
        #expect(page.session.call("Alert", [:]) == nil)
    }
}
