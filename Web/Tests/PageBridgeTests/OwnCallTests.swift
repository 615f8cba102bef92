import BridgeJSON
import Testing

@testable import PageBridge

extension TestPage {
    /// A call of the container's.
    fileprivate mutating func callAlert() throws -> (number: Int, actions: [PageSession.Action]) {
        guard let call = session.call("Alert", ["content": "x"]) else { throw Failure() }
        return call
    }
}

@Suite("The container's own calls on a page's session") struct OwnCallTests {
    private func answer(_ number: Int, _ member: String) -> [UInt8] {
        Array("{\"callbackId\":\"trestle-web-call:\(TestPage.secret):\(number)\",\(member)}\n".utf8)
    }

    @Test("a call goes out as it is made, and its answer ends it and never reaches the page")
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

    @Test("before the hello is answered a call waits; behind a refused hello it ends and is never sent")
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

    @Test("a document that is left, and a connection that ends, end its calls")
    func left() throws {
        var page = TestPage.open()
        let first = try page.callAlert()
        #expect(page.commit("https://a.example/2") == [.disconnect, .ended(call: first.number, result: nil)])
        #expect(page.session.call("Alert", [:]) == nil)
        var other = TestPage.open()
        let second = try other.callAlert()
        #expect(other.session.disconnected().first == .ended(call: second.number, result: nil))
    }

    @Test("a cancelled call is cancelled at the daemon, and its late answer reaches nobody")
    func cancelled() throws {
        var page = TestPage.open()
        _ = page.pull()
        let call = try page.callAlert()
        guard case .send(let line) = page.session.cancel(call.number).first else { throw Failure() }
        #expect(try JSON(parsing: line)["cancel"]?.stringValue?.hasSuffix(":\(call.number)") == true)
        #expect(page.session.received(answer(call.number, "\"error\":{\"code\":\"call.cancelled\"}")) == [])
        #expect(page.session.cancel(call.number) == [])
    }

    @Test("no more calls are pending than may be")
    func bound() {
        var page = TestPage.open()
        for _ in 0..<OwnCalls.maximum { #expect(page.session.call("Alert", [:]) != nil) }
        #expect(page.session.call("Alert", [:]) == nil)
    }
}
