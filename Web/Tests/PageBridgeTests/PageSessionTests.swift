import BridgeJSON
import Testing
import WebProfiles

@testable import PageBridge

@Suite("The bridge of one document") struct PageSessionTests {
    @Test("no line of the page is sent before the daemon has accepted the hello")
    func order() throws {
        var page = TestPage()
        #expect(page.commit("https://a.example/page") == [])
        guard case .connect = page.hello("https://a.example").first else { throw Failure() }
        #expect(page.line("{\"task\":\"Echo\"}") == [])
        let actions = page.answered()
        #expect(actions.contains(.send(Array("{\"task\":\"Echo\"}".utf8))))
        #expect(page.line("1") == [.send(Array("1".utf8))])
    }

    @Test("after a refused hello each call gets permission.denied, and nothing is sent")
    func refused() {
        var page = TestPage()
        _ = page.commit("https://a.example/")
        _ = page.hello("https://a.example")
        _ = page.line("{\"task\":\"Echo\",\"callbackId\":7}")
        _ = page.pull()
        let actions = page.refused()
        #expect(actions.first == .disconnect)
        #expect(page.delivered(actions).contains("{\"callbackId\":7,\"error\":{\"code\":\"permission.denied\""))
        _ = page.pull()
        let later = page.line("[{\"task\":\"Echo\",\"callbackId\":\"x\"},{\"task\":\"Echo\"}]")
        #expect(page.delivered(later).split(separator: "\n").count == 1)
        #expect(!(actions + later).contains { if case .send = $0 { true } else { false } })
    }

    @Test(
        "only the origin of the view's address gets a session, and only if it has the bridge",
        arguments: [
            ("https://a.example/page", "https://a.example", true),
            ("https://a.example/", "https://A.example:443", true),
            ("https://a.example/page", "https://b.example", false), ("https://b.example/", "https://b.example", false),
            ("https://a.example:444/", "https://a.example:444", false),
            ("http://a.example/", "http://a.example", false),
            ("https://a.example/", "null", false), ("https://a.example.evil.example/", "https://a.example", false),
            ("about:blank", "null", false), ("data:text/html,x", "https://a.example", false),
            ("blob:https://a.example/1", "https://a.example", false), ("file:///etc/passwd", "file://", false),
            ("https://a.example@evil.example/", "https://a.example", false),
            ("https://evil.example/https://a.example/", "https://a.example", false),
            ("https://evil.example\\@a.example/", "https://a.example", false),
        ])
    func binding(uri: String, origin: String, isGood: Bool) {
        var page = TestPage()
        _ = page.commit(uri)
        let actions = page.hello(origin)
        #expect(actions.contains { if case .connect = $0 { true } else { false } } == isGood)
        #expect(actions.contains { if case .refused = $0 { true } else { false } } == !isGood)
    }

    @Test("no session is opened without a commit")
    func early() {
        var page = TestPage()
        let actions = page.hello("https://a.example")
        #expect(!actions.contains { if case .connect = $0 { true } else { false } })
    }

    @Test("messages of an earlier document are dropped, and its connection is closed")
    func stale() {
        var page = TestPage()
        _ = page.commit("https://a.example/")
        _ = page.hello("https://a.example", document: 1)
        _ = page.answered()
        #expect(page.commit("https://a.example/next") == [.disconnect])
        #expect(page.line("{}", document: 1) == [])
        _ = page.hello("https://a.example", document: 2)
        _ = page.answered()
        #expect(page.line("{}", document: 1) == [])
        #expect(page.pull(document: 1) == [])
        #expect(page.line("{}", document: 2) == [.send(Array("{}".utf8))])
    }

    @Test("a late hello of an earlier document gets no session for the next document")
    func lateHello() {
        var page = TestPage(bridgeOrigins: ["https://a.example", "https://b.example"])
        _ = page.commit("https://b.example/")
        _ = page.hello("https://a.example", document: 1)
        #expect(page.line("{\"task\":\"Echo\"}", document: 1) == [])
        #expect(!page.hello("https://b.example", document: 2).isEmpty)
    }

    @Test("a page's answer is not mistaken for the daemon's answer to the hello")
    func forgedAnswer() {
        var page = TestPage()
        _ = page.commit("https://a.example/")
        _ = page.hello("https://a.example")
        _ = page.line("{\"task\":\"Echo\"}")
        #expect(page.session.received(Array("{\"callbackId\":\"trestle-web:\",\"result\":{}}\n".utf8)) == [])
        #expect(page.answered().contains(.send(Array("{\"task\":\"Echo\"}".utf8))))
    }

    @Test("a line end within a line does not end the message")
    func lineEnds() {
        var page = TestPage.open()
        #expect(page.line("{\n}\r{}") == [.send(Array("{ } {}".utf8))])
    }

    @Test("the last line end is found in any slice, and none in an empty one")
    func lastLineEnd() {
        let bytes = Array("1\n22\n333".utf8)
        #expect(LineEnds.last(in: bytes[...]) == 4)
        #expect(LineEnds.last(in: bytes[1..<4]) == 1)
        #expect(LineEnds.last(in: bytes[2..<4]) == nil)
        #expect(LineEnds.last(in: [][...]) == nil)
        #expect(LineEnds.replaced(in: bytes[1..<5]) == Array(" 22 ".utf8))
        #expect(LineEnds.replaced(in: [][...]) == [])
    }

    @Test("lines wait for a post of the porter and are joined")
    func pulls() {
        var page = TestPage.openWithoutPosts()
        #expect(page.session.received(Array("1\n".utf8)) == [])
        #expect(page.session.received(Array("2\n".utf8)) == [])
        #expect(page.pull() == [.deliver(Array("1\n2\n".utf8))])
        #expect(page.pull() == [])
        #expect(page.session.received(Array("3\n".utf8)) == [.deliver(Array("3\n".utf8))])
        #expect(page.session.received(Array("4\n".utf8)) == [])
    }

    @Test("the answer to a call's line contains the result, without another post")
    func results() {
        var page = TestPage.openWithoutPosts()
        for _ in 0..<3 {
            #expect(page.line("1") == [.send(Array("1".utf8))])
            #expect(page.session.received(Array("2\n".utf8)) == [.deliver(Array("2\n".utf8))])
        }
        #expect(page.session.received(Array("3\n".utf8)) == [])
    }

    @Test("if too many posts wait, the oldest is answered with nothing")
    func heldPosts() {
        var page = TestPage.openWithoutPosts()
        for _ in 0..<PageSessionLimits.heldPosts { #expect(page.pull() == []) }
        #expect(page.line("1") == [.deliver([]), .send(Array("1".utf8))])
        for _ in 0..<PageSessionLimits.heldPosts { #expect(page.session.received(Array("2\n".utf8)).count == 1) }
        #expect(page.session.received(Array("2\n".utf8)) == [])
    }

    @Test("a new document replaces the waiting posts, and posts of other documents are dropped")
    func fates() {
        var page = TestPage.open()
        #expect(page.fate("p")?.fate == .held)
        #expect(page.fate("p", document: 2)?.fate == .dropped)
        #expect(page.fate("h", "https://a.example", document: 2)?.fate == .begins)
        #expect(page.fate("l", "1", document: 1)?.fate == .dropped)
        _ = page.answered()
        #expect(page.session.received(Array("1\n".utf8)).count == 1)
        #expect(page.session.received(Array("2\n".utf8)) == [])
    }

    @Test("reading stops while the page takes no lines")
    func backPressure() {
        var page = TestPage.openWithoutPosts()
        let line = [UInt8](repeating: 0x20, count: PageSessionLimits.undeliveredBytes - 1) + [0x0A]
        _ = page.session.received(line)
        #expect(page.session.isFull)
        _ = page.pull()
        #expect(!page.session.isFull)
    }

    @Test("calls get busy if too many wait for the hello")
    func flood() {
        var page = TestPage()
        _ = page.commit("https://a.example/")
        _ = page.hello("https://a.example")
        _ = page.pull()
        for number in 0..<PageSessionLimits.waitingLines {
            #expect(page.delivered(page.line("{\"task\":\"Echo\",\"callbackId\":\(number)}")) == "")
        }
        let actions = page.line("{\"task\":\"Echo\",\"callbackId\":\"last\"}")
        #expect(page.delivered(actions).hasPrefix("{\"callbackId\":\"last\",\"error\":{\"code\":\"busy\""))
    }

    @Test("the page is notified of a lost connection, which is retried after doubling pauses")
    func lost() {
        var page = TestPage.open()
        _ = page.pull()
        #expect(page.session.disconnected() == [.deliver(Array("!lost\n".utf8)), .retry(after: .milliseconds(100))])
        #expect(page.line("1") == [])
        #expect(page.session.retry().count == 1)
        #expect(page.session.disconnected() == [.retry(after: .milliseconds(200))])
        _ = page.session.retry()
        #expect(page.answered().contains(.send([UInt8(ascii: "1")])))
        #expect(page.session.disconnected().last == .retry(after: .milliseconds(100)))
    }

    @Test("a retry for an earlier document does nothing")
    func lateRetry() {
        var page = TestPage.open()
        _ = page.session.disconnected()
        _ = page.commit("https://b.example/")
        #expect(page.session.retry() == [])
    }

    @Test("the daemon's web.close closes the page; a result that contains the same text does not")
    func close() {
        var page = TestPage.open()
        let close = "{\"event\":\"web.close\",\"data\":{\"info\":null}}\n"
        let lookalike = page.session.received(Array("{\"callbackId\":1,\"result\":\(close.dropLast())}\n".utf8))
        #expect(!lookalike.contains(.close))
        #expect(page.session.received(Array("{\"callbackId\":1,\"result\":2}\n\(close)".utf8)).contains(.close))
    }

    @Test("address and title are sent once the session is open, and only when they change")
    func description() {
        var page = TestPage.open()
        let description = PageDescription(uri: "https://a.example/#x", title: "A")
        let actions = page.session.describe(description)
        #expect(actions.count == 1)
        #expect(page.session.describe(description) == [])
    }

    @Test("a page gets only the newest handlers, and each new document gets them")
    func handlers() {
        var page = TestPage.openWithoutPosts()
        _ = page.session.setHandlers([PageHandler("a", task: "Echo")])
        _ = page.session.setHandlers([PageHandler("b", task: "Echo")])
        let line = "!handlers [{\"name\":\"b\",\"task\":\"Echo\"}]\n"
        #expect(page.delivered(page.pull()) == line)
        #expect(page.delivered(page.pull()) == "")
        #expect(page.delivered(page.session.setHandlers([])) == "!handlers []\n")
        _ = page.commit("https://a.example/next")
        #expect(page.delivered(page.hello("https://a.example", document: 2)) == "!handlers []\n")
    }
}
