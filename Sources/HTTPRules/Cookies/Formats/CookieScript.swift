/// A script for the start of a page, which sets the cookies that the page has not: for pages whose own store cannot be
/// written to.
///
/// It does nothing in a page of another host. A script cannot set what it may not see: HttpOnly cookies are skipped,
/// and those whose bytes are no UTF-8, which a script cannot write.
public struct CookieScript: Hashable, Sendable {
    /// The script, in ASCII. It may stand in an HTML page.
    public let text: String
    /// The cookies that it does not set.
    public let skipped: [Cookie.Key]

    /// The script for a page.
    ///
    /// - Parameters:
    ///   - host: The host of the page.
    ///   - cookies: The cookies that go to the page; of two with the same name the first one is set.
    public init(host: Host, cookies: some Sequence<Cookie>) {
        var items: [String] = []
        var skipped: [Cookie.Key] = []
        for cookie in cookies {
            if let item = Self.item(cookie) { items.append(item) } else { skipped.append(cookie.key) }
        }
        self.skipped = skipped
        text = """
            (function () {
              if (location.hostname !== \(Self.literal(host.text))) return;
              var have = Object.create(null);
              document.cookie.split("; ").forEach(function (pair) {
                if (pair) have[pair.indexOf("=") < 0 ? "" : pair.slice(0, pair.indexOf("="))] = true;
              });
              [\(items.joined(separator: ", "))].forEach(function (item) {
                if (have[item[0]]) return;
                have[item[0]] = true;
                document.cookie = item[1];
              });
            })();

            """
    }

    /// A cookie's name and its line; nil where a script cannot set it.
    private static func item(_ cookie: Cookie) -> String? {
        guard !cookie.httpOnly, let name = String(validating: cookie.name, as: UTF8.self),
            let line = String(validating: SetCookie.line(of: cookie), as: UTF8.self)
        else { return nil }
        return "[\(literal(name)), \(literal(line))]"
    }

    /// A text as a literal of JavaScript and JSON, in ASCII. The characters that could end a script in a page, or a
    /// line, are escaped.
    private static func literal(_ text: String) -> String {
        var literal = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5C: literal += unit == 0x22 ? "\\\"" : "\\\\"
            case 0x20...0x7E where !"<>&'".utf16.contains(unit):
                literal.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                literal += "\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)"
            }
        }
        return literal + "\""
    }
}
