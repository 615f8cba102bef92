import ArgumentParser
import Glibc

/// The name of a new plugin, in the forms that files and programs require.
struct PluginName: Sendable, Equatable {
    /// The name for the daemon, and for its first task.
    let text: String

    private static let maximumBytes = 64
    /// The prefixes of the daemon's own tasks.
    private static let reserved = ["bridge", "plugin", "rpc"]

    /// The prefixes before `Plugin` in target names of Trestle's own package. A package that depends on it must not
    /// have targets with the same names.
    static let trestlePlugins: Set<String> = [
        "Alert", "CFixture", "CTask", "CloseWeb", "Cookies", "Counter", "Echo", "Fetch", "Fixture", "Login",
        "Persistence", "Sysinfo",
    ]

    /// - Throws: A message for the user about an invalid name.
    init(_ text: String) throws(ValidationError) {
        let rule = "a plugin's name has letters a-z, digits, - and _, and begins with a letter, such as scanner"
        guard let first = text.utf8.first, Self.isLetter(first), text.utf8.allSatisfy(Self.isAllowed) else {
            throw ValidationError("'\(PlainText.line(text))' is not a name for a plugin: \(rule)")
        }
        guard text.utf8.count <= Self.maximumBytes else {
            throw ValidationError(
                "the name has \(text.utf8.count) bytes, and may have \(Self.maximumBytes): choose a shorter one")
        }
        guard !Self.reserved.contains(text.lowercased()) else {
            throw ValidationError("'\(text)' is a name of the daemon's own: choose another")
        }
        self.text = text
    }

    /// Checks the name for a language.
    ///
    /// - Throws: The reason why a plugin of this name cannot be written in the language.
    func check(for language: PluginLanguage) throws(ValidationError) {
        guard language == .swift, Self.trestlePlugins.contains(camel) else { return }
        throw ValidationError(
            "the Swift target \(camel)Plugin already exists in Trestle's package: choose another name, such as "
                + "my-\(text)")
    }

    private static func isLetter(_ byte: UInt8) -> Bool { isalpha(Int32(byte)) != 0 && byte < 0x80 }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// Converts `qr-scan` to `QrScan`.
    var camel: String {
        text.split { $0 == "-" || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Converts `qr-scan` to `qr_scan`.
    var snake: String { String(text.map { $0 == "-" ? "_" : $0 }) }
}
