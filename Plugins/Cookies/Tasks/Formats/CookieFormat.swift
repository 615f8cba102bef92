/// A file format for cookies.
enum CookieFormat: String, Codable, CaseIterable, Sendable {
    /// Lines of seven columns, as in curl and wget.
    case netscape
    /// Cookies with all their properties; in a stream, one line for each.
    case json
    /// The formats of WebKitGTK: its database, only in a stream, or lines of eight columns.
    case webkit
}
