/// Makes file names that servers suggest harmless: they stay in their folder, are visible in listings, and are short
/// enough.
public enum DownloadName {
    /// The maximum length for file systems, with room for a number.
    private static let maximumBytes = 200

    /// Returns a name without path, control characters and leading dots.
    ///
    /// - Parameter suggested: The server's suggestion.
    public static func cleaned(_ suggested: String) -> String {
        let characters = suggested.unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": "_"
            default: scalar.properties.generalCategory.isVisible ? Character(scalar) : "_"
            }
        }
        let visible = String(characters).drop { $0 == "." || $0 == " " }
        var name = ""
        for character in visible where name.utf8.count + character.utf8.count <= maximumBytes { name.append(character) }
        return name.isEmpty ? "download" : name
    }

    /// Returns the name of a copy: `a (1).txt` for `a.txt`.
    ///
    /// - Parameters:
    ///   - name: A cleaned name.
    ///   - number: The number of the copy; 0 for the name itself.
    public static func copy(_ name: String, _ number: Int) -> String {
        guard number > 0 else { return name }
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(name) (\(number))" }
        return "\(name[..<dot]) (\(number))\(name[dot...])"
    }
}

extension Unicode.GeneralCategory {
    /// Whether the category contains neither control characters nor characters that change the direction of text.
    fileprivate var isVisible: Bool {
        switch self {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
