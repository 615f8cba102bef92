/// A form in which cookies are kept in files.
enum CookieFormat: String, Codable, CaseIterable, Sendable {
    /// Lines of seven columns, as curl and wget have them.
    case netscape
    /// Cookies with all that is known of them; in a stream a line for each.
    case json
    /// WebKitGTK's: its database, in a stream alone, or lines of eight columns.
    case webkit
}
