import HTTPRules
import TaskKit

/// What a file of cookies, or a part of it, says.
struct ImportedCookies: Sendable {
    /// A cookie, and the line or index where it stands.
    struct Entry: Sendable {
        var place: Int
        var cookie: Cookie
    }

    /// Why a line or an element is refused.
    struct Problem: Sendable {
        var place: Int
        var reason: String
    }

    private(set) var entries: [Entry] = []
    private(set) var problems: [Problem] = []

    /// Lines of seven columns.
    ///
    /// - Parameters:
    ///   - lines: The lines.
    ///   - first: The number of the first one.
    ///   - suffixes: The list of public suffixes.
    ///   - now: The time.
    init(netscape lines: [UInt8], from first: Int = 1, _ suffixes: PublicSuffixList, at now: UnixTime) {
        guard let file = NetscapeCookieFile.read(lines, suffixes: suffixes, at: now) else { return }
        // The place of a cookie is of no use: what the reader takes, the jar takes.
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

    /// Lines of JSON, a cookie each.
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

    /// Cookies, or nil where a row is none, by the numbers of the rows.
    init(rows: [(place: Int, cookie: Cookie?)]) {
        for row in rows {
            if let cookie = row.cookie {
                entries.append(Entry(place: row.place, cookie: cookie))
            } else {
                problems.append(Problem(place: row.place, reason: "columns"))
            }
        }
    }

    /// Cookies of the options of a call.
    ///
    /// - Throws: `options.invalid`.
    init(_ texts: [CookieText], at now: UnixTime) throws(BridgeError) {
        for (index, text) in texts.enumerated() {
            entries.append(Entry(place: index, cookie: try text.cookie(at: "$.cookies[\(index)]", now: now)))
        }
    }

    /// The same in parts of at most so many cookies.
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

    /// Sets the cookies, and notes those that are refused.
    ///
    /// - Returns: How many were set.
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
