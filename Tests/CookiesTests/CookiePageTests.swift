import HTTPRules
import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

@Suite("Cookie access of pages", .timeLimit(.minutes(20)))
struct CookiePageTests {
    private static let origin = "https://shop.example"

    private func withPage(_ body: (TestSession, TestSession) async throws -> Void) async throws {
        try await withCookies { bridge in
            try await body(await bridge.session(), await bridge.session(origin: Self.origin))
        }
    }

    @Test("A page sees the cookies of its own host, but no HttpOnly cookies and no other hosts")
    func seeing() async throws {
        try await withPage { local, page in
            try await local.set("https://shop.example/", "open=1")
            try await local.set("https://shop.example/", "secret=1; HttpOnly")
            try await local.set("https://shop.example/deep/x", "deep=1; Path=/deep")
            try await local.set("https://other.example/", "other=1")
            #expect(try await page.pairs() == ["deep=1", "open=1"])
            #expect(try await page.pairs(["url": "https://shop.example/a"]) == ["open=1"])
            #expect(
                await page.error("cookies.get", ["url": "https://other.example/"])?.code == "permission.denied")
            #expect(await page.error("cookies.get", ["url": "http://shop.example/"])?.code == "permission.denied")
            #expect(await page.error("cookies.get", ["profile": "work"])?.code == "permission.denied")
        }
    }

    @Test("A page with an internationalized host has the cookies of the host's A-labels")
    func international() async throws {
        try await withCookies { bridge in
            let (local, page) = (await bridge.session(), await bridge.session(origin: "https://bücher.example"))
            try await local.set("https://xn--bcher-kva.example/", "a=1")
            #expect(try await page.pairs() == ["a=1"])
        }
    }

    @Test("A page sets cookies only by lines for its own host, and cannot change HttpOnly cookies")
    func setting() async throws {
        try await withPage { local, page in
            try await local.set("https://shop.example/", "secret=1; HttpOnly")
            try await page.call("cookies.set", ["line": "a=1"])
            #expect(try await page.pairs() == ["a=1"])
            for (line, reason) in [
                ("secret=2", "http_only"), ("x=1; HttpOnly", "http_only"), ("x=1; Domain=other.example", "domain"),
                ("x=1; Domain=example", "public_suffix"),
            ] {
                let error = await page.error("cookies.set", ["line": .string(line)])
                #expect(error?.code == "cookie.refused" && error?.data?["reason"] == .string(reason), "\(line)")
            }
            let others: [JSON] = [
                ["url": "https://other.example/", "line": "x=1"], ["cookie": ["name": "x", "host": "shop.example"]],
                ["line": "x=1", "persist": true], ["line": "x=1", "pin": true],
            ]
            for options in others { #expect(await page.error("cookies.set", options)?.code == "permission.denied") }
            #expect(await page.error("cookies.delete", ["domain": "shop.example", "name": "secret"]) != nil)
            try await page.call("cookies.delete", ["all": true])
            #expect(try await local.pairs() == ["secret=1"])
        }
    }

    @Test("A page's watch reports only visible cookies, and no names of HttpOnly cookies")
    func watching() async throws {
        try await withPage { local, page in
            let since = try await page.call("cookies.watch")["version"] ?? nil
            try await local.set("https://shop.example/", "secret=1; HttpOnly")
            try await local.set("https://other.example/", "other=1")
            try await local.call("cookies.delete", ["domain": "shop.example"])
            try await local.set("https://shop.example/", "open=1")
            let event = await page.nextEvent().data
            #expect(event["changes"]?.arrayValue?.count == 1)
            #expect(event["changes"]?[0]?["cookie"]?["name"] == "open")
            // Version 0 means a profile without cookies; the first cookie starts at another version.
            #expect(since == 0)
            let version = event["version"]?.int64Value ?? 0
            let missed = try await page.call("cookies.watch", ["since": .number(JSONNumber(version - 4))])
            #expect(missed["changes"]?.arrayValue?.count == 1)
        }
    }

    @Test("A page whose origin is not http or https has no cookies")
    func otherOrigins() async throws {
        try await withCookies { bridge in
            let page = await bridge.session(origin: "app://notes")
            #expect(await page.error("cookies.get", [:])?.code == "permission.denied")
            #expect(await page.error("cookies.set", ["line": "a=1"])?.code == "permission.denied")
        }
    }
}

@Suite("Values of HttpOnly cookies", .timeLimit(.minutes(20)))
struct CookieSecretsTests {
    @Test("Without the permission cookies.secrets, local callers see HttpOnly cookies without values")
    func permission() throws {
        var cookie = Cookie(
            name: Array("id".utf8), value: Array("7".utf8), host: try Host(ascii: "a.example"),
            created: UnixTime(seconds: 0))
        let change = CookieChange(version: 1, kind: .set(cookie))
        #expect(cookie.json(showsSecrets: false)["value"] == "7")
        cookie.httpOnly = true
        #expect(cookie.json(showsSecrets: false)["value"] == nil)
        #expect(cookie.json(showsSecrets: true)["value"] == "7")
        let hidden = CookieChange(version: 1, kind: .set(cookie))
        let view = CookieView.local(showsSecrets: false)
        #expect(view.json(change, at: cookie.created)?["cookie"]?["value"] == "7")
        #expect(view.json(hidden, at: cookie.created)?["cookie"]?["name"] == "id")
        #expect(view.json(hidden, at: cookie.created)?["cookie"]?["value"] == nil)
    }
}
