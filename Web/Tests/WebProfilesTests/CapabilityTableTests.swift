import EventLoop
import TestSupport
import Testing

@Suite("The table of capabilities in docs/web.md") struct CapabilityTableTests {
    private static let tests = #filePath.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" }
    private static let page =
        tests.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" } + "/docs/web.md"

    /// The capability of each row, and the tests that it names as `SUITE.FUNCTION`.
    private static let rows: [(capability: String, tests: [String])] = {
        let section = contents(of: page).split(separator: "## Features\n").dropFirst().first ?? ""
        let table = section.split(separator: "\n").drop { !$0.hasPrefix("| --- ") }.dropFirst().prefix {
            $0.hasPrefix("|")
        }
        return table.map { row in
            let cells = row.split(separator: "|").map { $0.drop { $0 == " " } }
            let names = cells.last?.split(separator: "`").filter { $0.contains(".") }.map { String($0) } ?? []
            return (String(cells.first ?? ""), names)
        }
    }()

    /// The source texts of the suites, by their names.
    private static let suites: [String: String] = {
        var suites: [String: String] = [:]
        for folder in (try? FolderContents.names(in: tests)) ?? [] {
            for file in (try? FolderContents.names(in: "\(tests)/\(folder)")) ?? [] where file.hasSuffix(".swift") {
                suites[String(file.dropLast(6))] = contents(of: "\(tests)/\(folder)/\(file)")
            }
        }
        return suites
    }()

    /// The capabilities of page containers on other platforms.
    private static let capabilities = [
        "add, remove a script message handler", "page calls native, native answers once",
        "native calls page, result or error", "page provides tasks to others", "URL calls jxaction://scan?x=1",
        "page-level calls refresh, close", "callback as one event object",
        "user scripts, start/end, main frame/all, remove all", "user script versus evaluate",
        "bridge injected, so that it does not hang on a script server",
        "history shim (pushState, replaceState, popstate)", "cookies",
        "several web views share session and cookies (process pool)", "login state after login",
        "user agent append, replace", "progress, title, icon",
        "load: start, redirect, commit, finish, fail, cancelled", "decide about a navigation",
        "302 caught, request copied with a header", "decide about a response", "certificates", "HTTP authentication",
        "alert, confirm, prompt to native; handler called exactly once", "leave page?",
        "file chooser, permissions, print, full screen", "new windows", "downloads",
        "pool: global first view, visible, reusable", "white screen: process ended",
        "white screen: URL nil, title empty", "blank page", "hang", "memory", "public parameters at several places",
        "cache policy, clear by type, host, date", "local storage as persistence, CRUD by bridge",
        "Custom scheme, offline package, POST body", "intercept requests", "lifecycle: foreground, background",
        "lifecycle: lock screen", "screenshot, WebGL too", "autoplay", "go back runs no onload",
        "content height and insets", "launch workers",
    ]

    @Test("is complete: the name of a test or a suite begins with each capability", arguments: capabilities)
    func capability(_ capability: String) {
        let starts = ["@Test(\"", "@Test(\n        \"", "@Suite(\"", "@Suite(\n    \""].map { $0 + capability }
        #expect(starts.contains { start in Self.suites.values.contains { $0.contains(start) } })
    }

    @Test("has a test in each row, and each test exists") func rows() throws {
        #expect(Self.rows.count > 30)
        for row in Self.rows {
            #expect(!row.tests.isEmpty, "\(row.capability) names no test")
            for name in row.tests {
                let parts = name.split(separator: ".")
                let text = Self.suites[String(parts[0])] ?? ""
                // The attribute is before the function, on the same line or above.
                let before = text.split(separator: "func \(parts[1])(", maxSplits: 1).first ?? ""
                let attribute = before.count < text.count ? before.split(separator: "@Test").last ?? "" : ""
                #expect(
                    before.contains("@Test") && !attribute.contains("func ") && !attribute.isEmpty,
                    "\(row.capability): there is no test \(name)")
            }
        }
    }
}
