import HTTPRules
import TestSupport
import Testing

@Suite struct CookieFormatsTests {
    private func read(_ text: String) throws -> NetscapeCookieFile.Content {
        try #require(NetscapeCookieFile.read(Array(text.utf8), suffixes: suffixes, at: now))
    }

    @Test("A Netscape file is read, with HttpOnly, SameSite and both kinds of line ends") func netscape()
        throws
    {
        let content = try read(
            """
            # Netscape HTTP Cookie File

            .example.com\tTRUE\t/\tTRUE\t1800000000\ta\tb\r
            #HttpOnly_www.example.com\tFALSE\t/x\tFALSE\t0\tc\td=e
            example.com\tTRUE\t/\tTRUE\t1800000000\te\t\tNone
            example.com\tfalse\t/\tFALSE\t99999999999999999999\t\tnameless
            """)
        #expect(content.problems.isEmpty && content.cookies.count == 4)
        let cookies = content.cookies
        #expect(
            !cookies[0].hostOnly && cookies[0].secure && cookies[0].expires?.seconds == 1_800_000_000
                && cookies[0].value == [0x62])
        #expect(cookies[1].httpOnly && cookies[1].hostOnly && cookies[1].path == "/x" && cookies[1].expires == nil)
        #expect(cookies[1].value == Array("d=e".utf8) && cookies[2].sameSite == .none && !cookies[2].hostOnly)
        #expect(cookies[3].name.isEmpty && cookies[3].expires == now.after(400 * 86400))
    }

    @Test("Each malformed line is reported with its problem") func problems() throws {
        let content = try read(
            """
            a\tb
            com\tTRUE\t/\tFALSE\t0\ta\tb
            example.com\tFALSE\t/\tFALSE\t1\ta\tb
            example.com\tFALSE\t/\tFALSE\t0\t__Host-a\tb
            exa mple.com\tFALSE\t/\tFALSE\t0\ta\tb
            example.com\tmaybe\t/\tFALSE\t0\ta\tb
            example.com\tFALSE\t/\tFALSE\tx\ta\tb
            example.com\tFALSE\t/\tFALSE\t0\ta\tb\tLax\tmore
            example.com\tFALSE\t\tFALSE\t0\ta\tb
            """)
        #expect(content.cookies.isEmpty && content.problems.count == 9)
        #expect(content.problems[1] == .columns && content.problems[3] == .expired && content.problems[8] == .columns)
        for (line, reason) in [(2, "public_suffix"), (4, "prefix"), (9, "invalid")] {
            guard case .refused(let refusal) = content.problems[line] else {
                Issue.record("line \(line)")
                continue
            }
            #expect(refusal.reason.name == reason)
        }
    }

    @Test("A written file is read back", arguments: 0..<20 as Range<UInt64>) func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let cookies = (0..<100).compactMap { _ in
            try? CookieAdmission.check(randomCookie(&random), suffixes: suffixes, at: now)
        }
        let written = NetscapeCookieFile.write(cookies, withSameSite: true)
        let kept = cookies.filter { $0.partition.isEmpty && !$0.name.contains(9) && !$0.value.contains(9) }
        #expect(written.skipped.count == cookies.count - kept.count)
        let content = try #require(NetscapeCookieFile.read(written.bytes, suffixes: suffixes, at: now))
        #expect(content.problems.isEmpty)
        let expected = kept.map { cookie in
            var cookie = cookie
            cookie.sourceSecure = cookie.secure
            return cookie
        }
        #expect(content.cookies == expected)
    }

    @Test("Without the eighth column a file has the format of curl") func sevenColumns() throws {
        var cookie = Cookie(name: [0x61], value: [0x62], host: try Host("example.com"), hostOnly: false, created: now)
        cookie.httpOnly = true
        cookie.sameSite = .lax
        let text = String(decoding: NetscapeCookieFile.write([cookie]).bytes, as: UTF8.self)
        #expect(text == "# Netscape HTTP Cookie File\n#HttpOnly_.example.com\tTRUE\t/\tFALSE\t0\ta\tb\n")
    }

    @Test("Mutated files never trap", arguments: 0..<20 as Range<UInt64>) func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let file = Array(
            "#HttpOnly_.example.com\tTRUE\t/x\tTRUE\t1800000000\ta\tb\tNone\nexample.com\tFALSE\t/\tFALSE\t0\tc\td\n"
                .utf8)
        for _ in 0..<500 {
            let bytes = random.mutate(file, changes: 1...8, alphabet: Array("\t\n\r.#0-".utf8) + [0, 0xFF])
            let content = try #require(NetscapeCookieFile.read(bytes, suffixes: suffixes, at: now))
            let again = NetscapeCookieFile.read(
                NetscapeCookieFile.write(content.cookies, withSameSite: true).bytes, suffixes: suffixes, at: now)
            #expect(again?.cookies == content.cookies)
        }
    }

    @Test("Reading stops after 10,000 malformed lines; a file of 33 MiB is refused") func manyProblems() throws {
        let lines = Array(repeating: Array("x\n".utf8), count: 50_000).flatMap { $0 }
        let content = try #require(NetscapeCookieFile.read(lines, suffixes: suffixes, at: now))
        #expect(content.problems.count == 10_001 && content.problems[10_001] == .tooMany)
        #expect(NetscapeCookieFile.read(Array(repeating: 0x0A, count: 33 << 20), suffixes: suffixes, at: now) == nil)
    }

    @Test("A script is ASCII, escapes what could end it, and skips cookies that it cannot set") func script() throws {
        var cookies = [
            Cookie(
                name: [0x61], value: Array("</script>\"\\\u{2028}é😀'&".utf8), host: try Host("example.com"),
                created: now),
            Cookie(name: [0x62], value: [0xFF], host: try Host("example.com"), created: now),
            Cookie(name: [0x63], value: [], host: try Host("example.com"), created: now),
        ]
        cookies[2].httpOnly = true
        let script = CookieScript(host: try Host("www.example.com"), cookies: cookies)
        #expect(script.skipped == [cookies[1].key, cookies[2].key])
        #expect(script.text.utf8.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) })
        #expect(!script.text.contains("</") && script.text.contains("location.hostname !== \"www.example.com\""))
        #expect(
            script.text.contains("a=\\u003c/script\\u003e\\\"\\\\\\u2028\\u00e9\\ud83d\\ude00\\u0027\\u0026; Path=/"))
    }
}
