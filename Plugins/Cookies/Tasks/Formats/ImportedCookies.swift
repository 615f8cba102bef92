import HTTPRules
import TaskKit

/// The cookies and problems of a file of cookies, or of a part of it.
struct ImportedCookies: Sendable {
    /// A cookie, and its line, row or index.
    struct Entry: Sendable {
        var place: Int
        var cookie: Cookie
    }

    /// The reason why a line, row or element is refused.
    struct Problem: Sendable {
        var place: Int
        var reason: String
    }

    private(set) var entries: [Entry] = []
    private(set) var problems: [Problem] = []

    /// Reads lines of seven or eight columns.
    ///
    /// - Parameters:
    ///   - lines: The lines.
    ///   - first: The number of the first one.
    ///   - suffixes: The public suffix list.
    ///   - now: The current time.
    init(netscape lines: [UInt8], from first: Int = 1, _ suffixes: PublicSuffixList, at now: UnixTime) {
        guard let file = NetscapeCookieFile.read(lines, suffixes: suffixes, at: now) else { return }
        // The places are not needed: the jar accepts each cookie that the reader accepts.
        entries = file.cookies.map { Entry(place: 0, cookie: $0) }
        problems = file.problems.map { line, problem in
            Problem(place: line - 1 + first, reason: Self.reason(of: problem))
        }
    }

    private static func reason(of problem: NetscapeCookieFile.Problem) -> String {
        switch problem {
        case .columns: "columns"
        case .refused(let refusal): refusal.reason.name
        case .expired: "expired"
        case .tooMany: "too_many"
        }
    }

    /// Reads lines of JSON with one cookie each.
    init(jsonLines lines: [UInt8], from first: Int, at now: UnixTime) {
        let lines = lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            do {
                let text = try JSONCoding.decode(CookieText.self, text: Array(line), unknownKeys: .refuse)
                entries.append(Entry(place: first + index, cookie: try text.cookie(at: "$", now: now)))
            } catch {
                problems.append(Problem(place: first + index, reason: "invalid"))
            }
        }
    }

    /// Creates the list from the rows of a database. The cookie is `nil` if the row is not a valid cookie.
    init(rows: [(place: Int, cookie: Cookie?)]) {
        for row in rows {
            if let cookie = row.cookie {
                entries.append(Entry(place: row.place, cookie: cookie))
            } else {
                problems.append(Problem(place: row.place, reason: "columns"))
            }
        }
    }

    /// Reads the cookies in the options of a call.
    ///
    /// - Throws: `options.invalid`.
    init(_ texts: [CookieText], at now: UnixTime) throws(BridgeError) {
        for (index, text) in texts.enumerated() {
            entries.append(Entry(place: index, cookie: try text.cookie(at: "$.cookies[\(index)]", now: now)))
        }
    }

    /// Returns the same in parts of at most `count` cookies.
    func parts(of count: Int) -> [ImportedCookies] {
        var parts = stride(from: 0, to: entries.count, by: count).map { start in
            var part = ImportedCookies()
            part.entries = Array(entries[start..<min(start + count, entries.count)])
            return part
        }
        if parts.isEmpty { parts = [ImportedCookies()] }
        parts[0].problems = problems
        return parts
    }

    private init() {}

    /// Sets the cookies, and records the refused ones as problems.
    ///
    /// - Returns: The number of cookies that were set.
    mutating func set(in jar: inout CookieJar, at now: UnixTime) -> Int {
        var count = 0
        for entry in entries {
            do throws(CookieRefusal) {
                try jar.set(entry.cookie, at: now)
                count += 1
            } catch {
                problems.append(Problem(place: entry.place, reason: error.reason.name))
            }
        }
        return count
    }
}
