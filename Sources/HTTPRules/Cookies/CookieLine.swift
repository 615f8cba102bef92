extension SetCookie {
    /// Returns the line that sets a cookie again. Parsing it returns the cookie's properties if `CookieAdmission` would
    /// accept the cookie.
    ///
    /// - Parameter cookie: The cookie.
    /// - Returns: The value of a `Set-Cookie` field.
    public static func line(of cookie: Cookie) -> [UInt8] {
        var line = pair(of: cookie)
        line += "; Path=".utf8
        line += CookieBytes.bytes(cookie.path) ?? [UInt8(ascii: "/")]
        if !cookie.hostOnly { line += "; Domain=\(cookie.host.text)".utf8 }
        if let expires = cookie.expires { line += "; Expires=\(CookieDate.write(expires))".utf8 }
        if cookie.secure { line += "; Secure".utf8 }
        if cookie.httpOnly { line += "; HttpOnly".utf8 }
        if let name = cookie.sameSite.attribute { line += "; SameSite=\(name)".utf8 }
        if !cookie.partition.isEmpty { line += "; Partitioned".utf8 }
        return line
    }

    /// Returns name and value in the form of a line. A value without a name that contains an equals sign gets another
    /// one before it.
    private static func pair(of cookie: Cookie) -> [UInt8] {
        if cookie.name.isEmpty, !cookie.value.contains(UInt8(ascii: "=")) { return cookie.value }
        return cookie.name + [UInt8(ascii: "=")] + cookie.value
    }
}

extension SameSite {
    /// The value of the attribute; `nil` if there is none.
    var attribute: String? {
        switch self {
        case .unset: nil
        case .none: "None"
        case .lax: "Lax"
        case .strict: "Strict"
        }
    }
}
