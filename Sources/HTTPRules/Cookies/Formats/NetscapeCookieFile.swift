/// The cookie file format of Netscape, curl and wget: one line for each cookie, with seven tab-separated columns and an
/// optional eighth for `SameSite`. A line that begins with `#HttpOnly_` is a cookie that is hidden from scripts.
///
/// The format cannot represent partitions. Cookies that are stored under a top-level site are not written, because a
/// reader of the file would send them everywhere.
public enum NetscapeCookieFile {
    /// The maximum length of a file in bytes: a full store of the longest cookies, 3,300 of 6 KiB, is 20 MiB.
    public static let maximumBytes = 32 << 20
    /// The maximum number of cookies that are read: three times the number in a store.
    public static let maximumCookies = 10_000

    /// The reason why a line is no cookie.
    public enum Problem: Hashable, Sendable {
        /// The line does not have seven or eight columns, or one of them cannot be read.
        case columns
        /// No server could set the cookie.
        case refused(CookieRefusal)
        /// The cookie has expired.
        case expired
        /// There are too many cookies, or too many invalid lines; in the latter case the rest of the file is not read.
        case tooMany
    }

    /// The content of a file.
    public struct Content: Hashable, Sendable {
        /// The cookies, in order.
        public var cookies: [Cookie] = []
        /// The invalid lines, by their number, from 1.
        public var problems: [Int: Problem] = [:]
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - suffixes: The list of public suffixes.
    ///   - now: The time, which becomes the creation time of the cookies.
    /// - Returns: The cookies and the invalid lines; `nil` if the file is too long.
    public static func read(_ bytes: [UInt8], suffixes: PublicSuffixList, at now: UnixTime) -> Content? {
        guard bytes.count <= maximumBytes else { return nil }
        var content = Content()
        var number = 0
        var rest = bytes[...]
        while !rest.isEmpty {
            number += 1
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            guard content.problems.count < maximumCookies else {
                content.problems[number] = .tooMany
                break
            }
            if let problem = take(line, into: &content, suffixes: suffixes, at: now) {
                content.problems[number] = problem
            }
        }
        return content
    }

    private static let httpOnlyMark = "#HttpOnly_".utf8

    private static func take(
        _ line: ArraySlice<UInt8>, into content: inout Content, suffixes: PublicSuffixList, at now: UnixTime
    ) -> Problem? {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        let isHTTPOnly = line.starts(with: httpOnlyMark)
        if line.isEmpty || (line.first == UInt8(ascii: "#") && !isHTTPOnly) { return nil }
        guard var cookie = cookie(isHTTPOnly ? line.dropFirst(httpOnlyMark.count) : line, at: now) else {
            return .columns
        }
        cookie.httpOnly = isHTTPOnly
        guard content.cookies.count < maximumCookies else { return .tooMany }
        do throws(CookieRefusal) {
            cookie = try CookieAdmission.check(cookie, suffixes: suffixes, at: now)
        } catch {
            return .refused(error)
        }
        if cookie.isExpired(at: now) { return .expired }
        content.cookies.append(cookie)
        return nil
    }

    /// Parses the columns: domain, whether names below it are included, path, whether it is Secure, expiry (0 for a
    /// session cookie), name, value, and `SameSite`.
    private static func cookie(_ line: ArraySlice<UInt8>, at now: UnixTime) -> Cookie? {
        let columns = line.split(separator: UInt8(ascii: "\t"), maxSplits: 8, omittingEmptySubsequences: false)
        guard (7...8).contains(columns.count), let isBelow = flag(columns[1]), let isSecure = flag(columns[3]),
            let end = number(columns[4])
        else { return nil }
        let domain = columns[0].first == UInt8(ascii: ".") ? columns[0].dropFirst() : columns[0]
        guard let host = try? Host(ascii: domain) else { return nil }
        var cookie = Cookie(
            name: Array(columns[5]), value: Array(columns[6]), host: host, hostOnly: !isBelow || !host.isName,
            path: CookieBytes.text(columns[2]), created: now)
        cookie.secure = isSecure
        cookie.sourceSecure = isSecure
        cookie.expires = end == 0 ? nil : UnixTime(seconds: end)
        if columns.count == 8 { cookie.sameSite = sameSite(columns[7]) }
        return cookie
    }

    private static func flag(_ column: ArraySlice<UInt8>) -> Bool? {
        switch String(decoding: column.prefix(6).map(AddressBytes.lowercased), as: UTF8.self) {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// Parses a number of seconds; a number that is too large is limited to the range of the type.
    private static func number(_ column: ArraySlice<UInt8>) -> Int64? {
        let text = column.first == UInt8(ascii: "-") ? column.dropFirst() : column
        guard !text.isEmpty, text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(String(decoding: column, as: UTF8.self)) ?? (text.count == column.count ? .max : .min)
    }

    private static func sameSite(_ column: ArraySlice<UInt8>) -> SameSite {
        switch String(decoding: column.prefix(7).map(AddressBytes.lowercased), as: UTF8.self) {
        case "none": .none
        case "lax": .lax
        case "strict": .strict
        default: .unset
        }
    }
}

extension NetscapeCookieFile {
    /// A file, and the cookies that it cannot represent.
    public struct Written: Hashable, Sendable {
        /// The file.
        public var bytes: [UInt8]
        /// The cookies that it does not contain: those with a tab or a line feed in them, and those of a partition.
        public var skipped: [Cookie.Key]
    }

    /// The first line of a file.
    public static let heading = Array("# Netscape HTTP Cookie File\n".utf8)

    /// Writes a file, or a part of one.
    ///
    /// - Parameters:
    ///   - cookies: The cookies, in order.
    ///   - withSameSite: Whether the eighth column is written, which curl does not support.
    ///   - withHeading: Whether the first line is written.
    /// - Returns: The file, and the cookies that it cannot represent.
    public static func write(
        _ cookies: some Sequence<Cookie>, withSameSite: Bool = false, withHeading: Bool = true
    ) -> Written {
        var written = Written(bytes: withHeading ? heading : [], skipped: [])
        for cookie in cookies {
            if let line = line(of: cookie, withSameSite: withSameSite) {
                written.bytes += line + [UInt8(ascii: "\n")]
            } else {
                written.skipped.append(cookie.key)
            }
        }
        return written
    }

    private static func line(of cookie: Cookie, withSameSite: Bool) -> [UInt8]? {
        guard cookie.partition.isEmpty, let path = CookieBytes.bytes(cookie.path) else { return nil }
        // Zero means a session cookie. A cookie that expired at time 0 is written as -1, which is expired as well.
        let end = cookie.expires.map { $0.seconds == 0 ? -1 : $0.seconds } ?? 0
        var columns = [
            Array("\(cookie.httpOnly ? "#HttpOnly_" : "")\(cookie.hostOnly ? "" : ".")\(cookie.host.text)".utf8),
            Array((cookie.hostOnly ? "FALSE" : "TRUE").utf8), path, Array((cookie.secure ? "TRUE" : "FALSE").utf8),
            Array(String(end).utf8), cookie.name, cookie.value,
        ]
        if withSameSite { columns.append(Array((cookie.sameSite.attribute ?? "").utf8)) }
        guard !columns.joined().contains(where: { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\n") }) else {
            return nil
        }
        return Array(columns.joined(separator: [UInt8(ascii: "\t")]))
    }
}
