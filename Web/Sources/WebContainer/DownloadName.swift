/// Names of files that servers suggest, made harmless: they stay in their folder, show in listings, and fit.
public enum DownloadName {
    /// What file systems take, with room for a number.
    private static let maximumBytes = 200

    /// A name without path, control characters and leading dots.
    ///
    /// - Parameter suggested: What the server says.
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

    /// The name of a copy: `a (1).txt` of `a.txt`.
    ///
    /// - Parameters:
    ///   - name: A name that is cleaned.
    ///   - number: Which copy; 0: the name itself.
    public static func copy(_ name: String, _ number: Int) -> String {
        guard number > 0 else { return name }
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(name) (\(number))" }
        return "\(name[..<dot]) (\(number))\(name[dot...])"
    }
}

extension Unicode.GeneralCategory {
    /// Neither controls nor characters that change the direction of text.
    fileprivate var isVisible: Bool {
        switch self {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
