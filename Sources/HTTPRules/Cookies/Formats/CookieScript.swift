/// A script for the start of a page that sets the cookies that the page does not have. For pages whose own cookie store
/// cannot be written.
///
/// It does nothing in a page of another host. A script cannot set cookies that are hidden from it, so HttpOnly cookies
/// are skipped. Cookies whose bytes are not UTF-8 are skipped too, because a script cannot write them.
public struct CookieScript: Hashable, Sendable {
    /// The script, in ASCII. An HTML page may contain it.
    public let text: String
    /// The cookies that it does not set.
    public let skipped: [Cookie.Key]

    /// Creates the script for a page.
    ///
    /// - Parameters:
    ///   - host: The host of the page.
    ///   - cookies: The cookies that are sent to the page; of two with the same name the first one is set.
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

    /// Returns a cookie's name and its line as an item of the script; `nil` if a script cannot set it.
    private static func item(_ cookie: Cookie) -> String? {
        guard !cookie.httpOnly, let name = String(validating: cookie.name, as: UTF8.self),
            let line = String(validating: SetCookie.line(of: cookie), as: UTF8.self)
        else { return nil }
        return "[\(literal(name)), \(literal(line))]"
    }

    /// Returns a text as a literal of JavaScript and JSON, in ASCII. Characters that could end a script in a page, or a
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
