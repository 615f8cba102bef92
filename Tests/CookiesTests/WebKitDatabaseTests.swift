import Foundation
import GRDB
import HTTPRules
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import CookiesTasks

@Suite("WebKitGTK cookie databases", .timeLimit(.minutes(20)))
struct WebKitDatabaseTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    /// Returns the bytes of a database made with other statements than the plugin's.
    private func database(_ statements: String) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("cookies.sqlite"))
        try queue.write { try $0.execute(sql: statements) }
        try queue.close()
        return Array(try Data(contentsOf: URL(filePath: folder.file("cookies.sqlite"))))
    }

    private static let table = """
        CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, name TEXT, value TEXT, host TEXT, path TEXT, expiry INTEGER, \
        lastAccessed INTEGER, isSecure INTEGER, isHttpOnly INTEGER, sameSite INTEGER);
        """

    private func cookies(_ statements: String) throws -> [Cookie] {
        try WebKitDatabase.read(database(statements), at: Self.now).entries.map(\.cookie)
    }

    private func refusal(_ statements: String) throws -> String? {
        let file = try database(statements)
        do throws(BridgeError) {
            _ = try WebKitDatabase.read(file, at: Self.now)
            return nil
        } catch {
            #expect(error.code == .optionsInvalid)
            return error.message
        }
    }

    @Test("A row becomes a cookie with all its attributes; a leading dot means a domain cookie")
    func rows() throws {
        let found = try cookies(
            Self.table + """
                INSERT INTO moz_cookies VALUES (1, 'a', '1', '.a.example', '/x', 1900000000, 7, 1, 1, 2),
                    (2, 'b', '2', 'b.example', '/', 1900000000, 7, 0, 0, 0);
                """)
        try #require(found.count == 2)
        #expect(found[0].host.text == "a.example" && !found[0].hostOnly && found[0].path == "/x")
        #expect(found[0].secure && found[0].httpOnly && found[0].sameSite == .strict)
        #expect(found[0].expires == UnixTime(seconds: 1_900_000_000) && found[0].accessed == UnixTime(seconds: 7))
        #expect(found[1].hostOnly && !found[1].secure && found[1].sameSite == .unset)
    }

    @Test("A table without sameSite is read, and a row with an invalid host is reported by its number")
    func old() throws {
        let file = try database(
            """
            CREATE TABLE moz_cookies (name TEXT, value TEXT, host TEXT, path TEXT, expiry INTEGER, isSecure INTEGER);
            INSERT INTO moz_cookies VALUES
                ('a', '1', 7, '/', 1900000000, 1), ('b', '2', 'b.example', '/', 1900000000, 1);
            """)
        let read = try WebKitDatabase.read(file, at: Self.now)
        #expect(read.entries.map(\.place) == [2] && read.problems.map(\.place) == [1])
    }

    @Test("Other tables, views, generated columns and too long values are refused")
    func refused() throws {
        #expect(try refusal("CREATE TABLE other (a)")?.contains("got another one") == true)
        #expect(try refusal("CREATE TABLE moz_cookies (name)")?.contains("columns") == true)
        let view = "CREATE VIEW moz_cookies AS SELECT 1 AS name, 2 AS value, 3 AS host, 4 AS path, 5 AS expiry"
        #expect(try refusal(view)?.contains("got another one") == true)
        let generated = """
            CREATE TABLE moz_cookies (name TEXT, value TEXT AS (hex(zeroblob(1000000))), host TEXT, path TEXT,
                expiry INTEGER)
            """
        #expect(try refusal(generated)?.contains("got another one") == true)
        let long = Self.table + "INSERT INTO moz_cookies (name, value) VALUES ('a', hex(zeroblob(100000)))"
        #expect(try refusal(long)?.contains("cannot be read") == true)
    }

    @Test("A damaged file is read or refused with options.invalid", arguments: 0..<200)
    func damaged(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var file = try WebKitDatabase.write(
            (0..<40).map { index in
                var cookie = Cookie(
                    name: Array("n\(index)".utf8), value: [0x31], host: try #require(try? Host(ascii: "a.example")),
                    hostOnly: true, path: "/", created: Self.now)
                cookie.expires = UnixTime(seconds: Self.now.seconds + 1000)
                return cookie
            })
        for _ in 0..<Int.random(in: 1...20, using: &generator) {
            file[Int.random(in: 16..<file.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        if Bool.random(using: &generator) { file.removeLast(Int.random(in: 0..<file.count - 16, using: &generator)) }
        do throws(BridgeError) {
            let read = try WebKitDatabase.read(file, at: Self.now)
            #expect(read.entries.count <= NetscapeCookieFile.maximumCookies)
        } catch {
            #expect(error.code == .optionsInvalid)
        }
    }

    @Test("Exported cookies can be imported; session and partitioned cookies are not exported")
    func roundTrip() async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            for line in [
                "a=1; Max-Age=1000; Secure; HttpOnly; SameSite=Strict; Domain=a.example", "b=2; Max-Age=1000",
                "session=3", "part=4; Max-Age=1000; Secure; Partitioned",
            ] {
                try await session.set("https://www.a.example/", line)
            }
            let result = try await session.call("cookies.export", ["format": "webkit", "stream": true])
            let file = try await session.readStream(try #require(result["stream"]?.stringValue))
            #expect(WebKitDatabase.isDatabase(file))
            let sent = try await session.makeStream(file)
            let imported = try await session.call(
                "cookies.import", ["format": "webkit", "profile": "copy", "stream": .string(sent.name)])
            #expect(imported["imported"] == 2 && imported["refused"] == [])
            let text = try await session.call("cookies.export", ["format": "netscape", "profile": "copy"])["text"]
            #expect(text?.stringValue?.contains("#HttpOnly_.a.example\tTRUE\t/\tTRUE\t") == true)
            #expect(text?.stringValue?.contains("www.a.example\tFALSE\t/\tFALSE\t") == true)
        }
    }

    @Test("The line format with SameSite is imported from text and from a stream")
    func lines() async throws {
        let file = "a.example\tFALSE\t/\tTRUE\t1900000000\ta\t1\tStrict\n"
        try await withCookies { bridge in
            let session = await bridge.session()
            let sent = try await session.makeStream(Array(file.utf8))
            for (profile, content) in [("one", ("text", file)), ("two", ("stream", sent.name))] {
                let imported = try await session.call(
                    "cookies.import",
                    .object([
                        "format": "webkit", "profile": .string(profile), content.0: .string(content.1),
                    ]))
                #expect(imported["imported"] == 1)
                let cookies = try await session.call("cookies.get", ["profile": .string(profile)])["cookies"]
                #expect(cookies?[0]?["sameSite"] == "strict")
            }
        }
    }
}
