import Testing
import WebContainer
import WebProfiles

@Suite("Navigation rules") struct NavigationRulesTests {
    private func rules(_ external: Profile.External = .refuse) throws -> NavigationRules {
        NavigationRules(
            allowed: [try PageOrigin("https://a.example"), try PageOrigin("trestle://notes")], external: external)
    }

    @Test("exact origins are allowed, and no address that only begins like one")
    func exact() throws {
        let rules = try rules()
        for uri in ["https://a.example/x", "https://a.example:443/", "trestle://notes/index.html", "about:blank"] {
            #expect(rules.decide(uri) == .go, "\(uri)")
        }
        let others = [
            "http://a.example/", "https://a.example:444/", "https://a.example.evil.example/", "https://b.a.example/",
            "https://a.example@evil.example/", "trestle://other/",
        ]
        for uri in others { #expect(rules.decide(uri) == .refuse("allow"), "\(uri)") }
    }

    @Test("addresses without an origin are refused, even if the user chose them")
    func opaque() throws {
        let rules = try rules(.open)
        for uri in ["file:///etc/passwd", "data:text/html,x", "blob:https://a.example/1", "javascript:1", "mailto:a@b"]
        {
            #expect(rules.decide(uri, isUserGesture: true) == .refuse("addresses without an origin"), "\(uri)")
        }
    }

    @Test("links that a user followed open in the desktop's browser if the profile permits it; those of scripts do not")
    func external() throws {
        #expect(try rules(.open).decide("https://b.example/", isUserGesture: true) == .external)
        #expect(try rules(.open).decide("https://b.example/") == .refuse("allow"))
        #expect(try rules(.refuse).decide("https://b.example/", isUserGesture: true) == .refuse("allow"))
    }

    @Test("links that a user followed cause a question if the profile requests it")
    func ask() throws {
        #expect(try rules(.ask).decide("https://b.example/", isUserGesture: true) == .ask)
        #expect(try rules(.ask).decide("https://b.example/") == .refuse("allow"))
        #expect(try rules(.ask).decide("mailto:a@b", isUserGesture: true) == .refuse("addresses without an origin"))
    }

    @Test("new windows may open where pages may go, if the profile permits them")
    func allowedWindows() throws {
        var rules = try rules()
        rules.windows = .view
        #expect(rules.decide("https://a.example/", isForNewWindow: true) == .go)
        #expect(rules.decide("about:blank", isForNewWindow: true) == .go)
        #expect(rules.decide("https://b.example/", isForNewWindow: true) == .refuse("allow"))
        #expect(rules.decide("data:text/html,x", isForNewWindow: true) == .refuse("addresses without an origin"))
    }

    @Test("new windows are refused by default")
    func windows() throws {
        #expect(try rules().decide("https://a.example/", isForNewWindow: true) == .refuse("windows"))
        #expect(try rules().decide("about:blank", isForNewWindow: true) == .refuse("windows"))
        #expect(try rules(.open).decide("https://a.example/", isForNewWindow: true, isUserGesture: true) == .external)
    }

    @Test("a document is shown only where pages may go, and if no rule denies its type or status")
    func responses() throws {
        var rules = try rules()
        rules.deniedResponses = ["image/*", "404"].compactMap { ResponsePattern($0) }
        #expect(rules.deny("https://a.example/", type: "text/html", status: 200) == nil)
        #expect(rules.deny("http://a.example/", type: "text/html", status: 200) == "allow")
        #expect(rules.deny("https://a.example/", type: "IMAGE/png", status: 200) == "navigation.responses")
        #expect(rules.deny("https://a.example/", type: "text/html", status: 404) == "navigation.responses")
        #expect(rules.deny("trestle://notes/", type: "imagery/png", status: 0) == nil)
    }
}
