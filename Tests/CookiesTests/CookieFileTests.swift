import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

@Suite("Cookie files, and cookies of requests", .timeLimit(.minutes(20)))
struct CookieFileTests {
    private static let file = """
        # Netscape HTTP Cookie File
        #HttpOnly_.a.example\tTRUE\t/\tTRUE\t0\tid\t7
        b.example\tFALSE\t/x\tFALSE\t0\tb\t1

        """

    @Test(
        "An imported file is exported unchanged, and invalid lines are reported",
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

    @Test("The json format has all attributes, in parts that fit into messages")
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

    @Test("Invalid cookies are refused one by one, and a list that is too long is refused as a whole")
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

    @Test(
        "A file of any length is transferred as a stream in both formats; refused lines are reported",
        arguments: PluginEnvironment.all)
    func streams(environment: PluginEnvironment) async throws {
        try await withPlugin(.cookies(), in: environment) { bridge in
            // Each call takes many steps of this process, whose threads other tests may hold for a minute.
            let timeout = Duration.seconds(600)
            var file = "# Netscape HTTP Cookie File\n"
            for index in 0..<1200 { file += "h\(index).example\tFALSE\t/\tTRUE\t0\tn\t\(index)\n" }
            let sent = try await bridge.makeStream(Array((file + "none\n").utf8))
            let imported = try await bridge.call(
                "cookies.import", ["format": "netscape", "stream": .string(sent.name)], timeout: timeout)
            #expect(imported["imported"] == 1200)
            #expect(imported["refused"] == [["line": 1202, "reason": "columns"]])
            func exported(_ format: JSON, _ profile: JSON = "default") async throws -> [UInt8] {
                let result = try await bridge.call(
                    "cookies.export", ["format": format, "profile": profile, "stream": true], timeout: timeout)
                return try await bridge.readStream(try #require(result["stream"]?.stringValue))
            }
            #expect(try await exported("netscape") == Array(file.utf8))
            let lines = try await exported("json")
            let copied = try await bridge.makeStream(lines + Array("{}\n".utf8))
            let copy = try await bridge.call(
                "cookies.import", ["format": "json", "profile": "copy", "stream": .string(copied.name)],
                timeout: timeout)
            #expect(copy["imported"] == 1200)
            #expect(copy["refused"] == [["line": 1201, "reason": "invalid"]])
            #expect(try await exported("json", "copy") == lines)
        }
    }

    @Test("A stream with too long or mostly invalid lines is refused")
    func strangeStreams() async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            for (bytes, words) in [
                (Array(repeating: UInt8(ascii: "x"), count: LineParts.maximumLineBytes + 1), "line 1"),
                (Array(repeatElement(Array("x\n".utf8), count: 1600).joined()), "not accepted as cookies"),
            ] {
                let sent = try await session.makeStream(bytes)
                let error = await session.error(
                    "cookies.import", ["format": "netscape", "stream": .string(sent.name)])
                #expect(error?.code == "options.invalid")
                #expect(error?.message.contains(words) == true, "\(String(describing: error))")
            }
        }
    }

    @Test("The netscape format omits a partitioned cookie and names it in a comment")
    func leftOut() async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            try await session.set("https://b.example/", "b=1; Secure; Partitioned")
            let result = try await session.call("cookies.export", ["format": "netscape", "stream": true])
            let bytes = try await session.readStream(try #require(result["stream"]?.stringValue))
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.contains(#"# left out: {"name":"b","host":"b.example""#), "\(text)")
        }
    }

    @Test("Pages must not call the tasks for programs and containers")
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

    @Test("cookies.take applies the request's site, and cookies.put stores or refuses each line")
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
