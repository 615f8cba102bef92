import BridgeJSON
import WebProfiles

@testable import PageBridge

struct Failure: Error {}

/// A simulation of a page, its porter and the daemon around a session.
struct TestPage {
    static let secret = "00112233445566778899aabbccddeeff"
    var session: PageSession

    init(bridgeOrigins: [String] = ["https://a.example"]) {
        session = PageSession(
            bridgeOrigins: Set(bridgeOrigins.compactMap { try? PageOrigin($0) }), userAgent: "engine",
            secret: Self.secret)
    }

    /// Returns a page with an open session.
    static func open() -> TestPage {
        var page = TestPage()
        _ = page.commit("https://a.example/")
        _ = page.hello("https://a.example")
        _ = page.answered()
        return page
    }

    /// Returns a page with an open session and without a waiting post of the porter.
    static func openWithoutPosts() -> TestPage {
        var page = open()
        _ = page.session.received(Array("0\n".utf8))
        return page
    }

    /// Returns the ID of a document.
    static func document(_ number: Int) -> String { String(repeating: "\(number)", count: PageMessage.idBytes) }

    mutating func commit(_ uri: String?) -> [PageSession.Action] { session.commit(uri) }

    mutating func post(_ kind: String, _ text: String = "", document: Int = 1) -> [PageSession.Action] {
        fate(kind, text, document: document)?.actions ?? []
    }

    /// Posts a message. Returns the actions that follow and the fate of its answer; `nil` if the message is invalid.
    mutating func fate(
        _ kind: String, _ text: String = "", document: Int = 1
    ) -> (actions: [PageSession.Action], fate: PageSession.Fate)? {
        guard let message = PageMessage(Array("\(kind)\(Self.document(document))\(text)".utf8)) else { return nil }
        return session.posted(message)
    }

    mutating func hello(_ origin: String, document: Int = 1) -> [PageSession.Action] {
        post("h", origin, document: document)
    }

    mutating func line(_ text: String, document: Int = 1) -> [PageSession.Action] {
        post("l", text, document: document)
    }

    mutating func pull(document: Int = 1) -> [PageSession.Action] { post("p", document: document) }

    /// Answers the hello with a session.
    mutating func answered() -> [PageSession.Action] {
        session.received(Array("{\"callbackId\":\"trestle-web:\(Self.secret)\",\"result\":{\"session\":3}}\n".utf8))
    }

    /// Answers the hello with an error.
    mutating func refused() -> [PageSession.Action] {
        let error = "{\"code\":\"permission.denied\",\"message\":\"you may not speak for it\"}"
        return session.received(Array("{\"callbackId\":\"trestle-web:\(Self.secret)\",\"error\":\(error)}\n".utf8))
    }

    /// Returns the lines that the page receives.
    func delivered(_ actions: [PageSession.Action]) -> String {
        actions.map { if case .deliver(let lines) = $0 { String(decoding: lines, as: UTF8.self) } else { "" } }.joined()
    }
}
