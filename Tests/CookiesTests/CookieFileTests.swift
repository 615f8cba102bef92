import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

@Suite("Files of cookies, and cookies of requests", .timeLimit(.minutes(5)))
struct CookieFileTests {
    private static let file = """
        # Netscape HTTP Cookie File
        #HttpOnly_.a.example\tTRUE\t/\tTRUE\t0\tid\t7
        b.example\tFALSE\t/x\tFALSE\t0\tb\t1

        """

    @Test(
        "What was imported is exported as it came, and lines that are no cookies are told",
        arguments: PluginEnvironment.all)
    func netscape(environment: PluginEnvironment) async throws {
        try await withPlugin(.cookies(), in: environment) { bridge in
            let imported = try await bridge.call(
                "cookies.import",
                ["format": "netscape", "text": .string(Self.file + "co.uk\tTRUE\t/\tFALSE\t0\tx\t1\nnone\n")])
            #expect(imported["imported"] == 2)
            #expect(
                imported["refused"] == [
                    ["line": 4, "reason": "public_suffix"], ["line": 5, "reason": "columns"],
                ])
            let exported = try await bridge.call("cookies.export", ["format": "netscape"])
            #expect(exported["text"] == .string(Self.file))
            #expect(exported["skipped"] == [])
        }
    }

    @Test("The form json has everything, in parts that fit into messages")
    func json() async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            let value = String(repeating: "v", count: 4000)
            for index in 0..<100 { try await session.set("https://a.example/", "c\(index)=\(value); Max-Age=60") }
            try await session.call(
                "cookies.set", ["url": "https://b.example/", "line": "b=1; Secure; Partitioned", "pin": true])
            var after: JSON = 0
            var parts = 0
            while true {
                let part = try await session.call("cookies.export", ["format": "json", "after": after])
                try await session.call(
                    "cookies.import", ["profile": "copy", "format": "json", "cookies": part["cookies"] ?? []])
                parts += 1
                guard part["more"] == true else { break }
                after = part["version"] ?? nil
            }
            #expect(parts == 2)
            let copy = try await session.call("cookies.export", ["profile": "copy", "format": "json"])
            let original = try await session.call("cookies.export", ["format": "json"])
            #expect(copy["cookies"] == original["cookies"])
            let netscape = try await session.call("cookies.export", ["format": "netscape", "domain": "b.example"])
            #expect(netscape["skipped"]?[0]?["partition"] == "https://b.example")
        }
    }

    @Test("What no server could set is refused, one by one; a file that is too long as a whole")
    func refused() async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            let answer = try await session.call(
                "cookies.import",
                [
                    "format": "json",
                    "cookies": [
                        ["name": "a", "value": "1", "host": "a.example"],
                        ["name": "b", "value": "1", "host": "co.uk", "hostOnly": false],
                        ["name": "c;", "value": "1", "host": "a.example"],
                    ],
                ])
            #expect(answer["imported"] == 1)
            #expect(
                answer["refused"] == [
                    ["index": 1, "reason": "public_suffix"], ["index": 2, "reason": "invalid"],
                ])
            let many = JSON.array((0..<501).map { ["name": .string("n\($0)"), "host": "a.example"] })
            let error = await session.error("cookies.import", ["format": "json", "cookies": many])
            #expect(error?.code == "options.invalid")
            #expect(try await session.pairs() == ["a=1"])
        }
    }

    @Test("Pages export nothing, attach to nothing, and ask for no header")
    func pages() async throws {
        try await withCookies { bridge in
            let page = await bridge.session(origin: "https://a.example")
            for (task, options) in [
                ("cookies.export", ["format": "json"]), ("cookies.import", ["format": "json", "cookies": []]),
                ("cookies.attach", ["replica": "web"]), ("cookies.header", ["url": "https://a.example/"]),
                ("cookies.script", ["url": "https://a.example/"]), ("cookies.take", ["url": "https://a.example/"]),
                ("cookies.put", ["request": ["url": "https://a.example/"], "lines": ["a=1"]]),
            ] as [(String, JSON)] {
                #expect(await page.error(task, options)?.code == "permission.denied", "\(task)")
            }
        }
    }

    @Test("Of a request the header has what its site lets through, and lines of its answer are taken or told")
    func requests() async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            let put = try await session.call(
                "cookies.put",
                [
                    "request": ["url": "https://shop.example/", "site": "https://shop.example"],
                    "lines": [
                        "lax=1", "none=1; Secure; SameSite=None; HttpOnly", "strict=1; SameSite=Strict",
                        "x=1; Domain=a",
                    ],
                    "linesBase64": ["Yj3/"],
                ])
            #expect(put["refused"] == [["line": 3, "reason": "domain"]])
            func header(_ options: JSON) async throws -> JSON? {
                var object = options.objectValue ?? JSONObject()
                object["url"] = "https://shop.example/"
                let answer = try await session.call("cookies.take", .object(object))
                return answer["header"] ?? answer["headerBase64"]
            }
            try await session.call("cookies.delete", ["domain": "shop.example", "name": "b"])
            #expect(try await header([:]) == "lax=1; none=1; strict=1")
            #expect(try await header(["site": "https://other.example"]) == "none=1")
            #expect(try await header(["site": "opaque", "navigation": true]) == "lax=1; none=1")
            #expect(try await header(["site": "opaque", "navigation": true, "method": "POST"]) == "none=1")
            let named = try await session.call("cookies.header", ["url": "https://shop.example/"])
            #expect(named["names"] == ["lax", "none", "strict"])
            let script = try await session.call("cookies.script", ["url": "https://shop.example/"])
            #expect(script["script"]?.stringValue?.contains("shop.example") == true)
            #expect(script["skipped"]?[0]?["name"] == "none")
        }
    }
}
