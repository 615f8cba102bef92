/// The file with which desktops list a profile and open addresses of its schemes.
public struct DesktopEntry: Sendable, Hashable {
    /// The schemes that a program cannot claim as its own.
    private static let foreign: Set<String> = [
        "about", "blob", "data", "file", "ftp", "http", "https", "javascript", "trestle", "ws", "wss",
    ]

    /// The text of the file.
    public let text: String

    /// Creates the entry of a profile.
    ///
    /// - Parameters:
    ///   - name: The profile's name.
    ///   - profile: The profile.
    public init(_ name: String, _ profile: Profile) {
        var lines = [
            "[Desktop Entry]", "Type=Application", "Name=\(Self.escaped(profile.desktopName ?? name))",
            "Comment=Pages of the profile \(name)", "Exec=trestle-web --profile \(name) %u",
            "Icon=\(Self.escaped(profile.desktopIcon))", "Terminal=false", "Categories=Network;", "StartupNotify=true",
        ]
        if !profile.desktopSchemes.isEmpty {
            let types = profile.desktopSchemes.map { "x-scheme-handler/\($0);" }
            lines.append("MimeType=\(types.joined())")
        }
        text = lines.map { "\($0)\n" }.joined()
    }

    /// Whether a text can be a scheme of a profile: one of its own, in lower case.
    static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first), !foreign.contains(text), text.utf8.count <= 64 else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: isLetter(byte)
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    /// Returns a value on a single line.
    private static func escaped(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n").replacing("\r", with: "\\r")
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}

extension Profile {
    /// Whether an address has one of the profile's own schemes.
    ///
    /// - Parameter uri: The address.
    public func hasScheme(of uri: String) -> Bool {
        guard let end = uri.firstIndex(of: ":") else { return false }
        return desktopSchemes.contains(uri[..<end].lowercased())
    }
}
