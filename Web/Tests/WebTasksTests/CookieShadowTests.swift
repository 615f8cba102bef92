import Testing
import WebKitViews
import WebTasks

@Suite("The common state of a jar and a profile") struct CookieShadowTests {
    private let key = WebCookie.Key(name: "a", host: "shop.example")
    private func cookie(_ value: String) -> WebCookie { WebCookie(key, value: value) }

    @Test("a cookie from the daemon is not a change of the jar, although the jar has altered it")
    func echo() {
        var shadow = CookieShadow()
        var made = cookie("1")
        made.sameSite = .strict
        shadow.took(key, .init(cookie: cookie("1"), version: 4), found: made)
        #expect(shadow.differences(of: [key: made]).isEmpty)
        #expect(shadow.knows(key, .init(cookie: cookie("1"), version: 4)))
        #expect(!shadow.knows(key, .init(cookie: cookie("2"), version: 5)))
    }

    @Test("another value is a change of the jar, based on the version that was known")
    func behind() {
        var shadow = CookieShadow()
        shadow.took(key, .init(cookie: cookie("1"), version: 4), found: cookie("2"))
        let differences = shadow.differences(of: [key: cookie("2")])
        #expect(differences.map(\.cookie) == [cookie("2")] && differences.map(\.base) == [4])
        for difference in differences { shadow.sent(difference, version: 5) }
        #expect(shadow.differences(of: [key: cookie("2")]).isEmpty)
        #expect(shadow.differences(of: [:]).map(\.cookie) == [nil])
    }

    @Test("a cookie that the jar refuses is not removed from the profile")
    func refused() {
        var shadow = CookieShadow()
        shadow.took(key, .init(cookie: cookie("1"), version: 4), found: nil)
        #expect(shadow.differences(of: [:]).isEmpty && shadow.keys.isEmpty)
    }
}
