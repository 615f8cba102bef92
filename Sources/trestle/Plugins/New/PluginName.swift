import ArgumentParser
import Glibc

/// The name of a plugin that is to be, in the forms that files and programs want.
struct PluginName: Sendable, Equatable {
    /// As the daemon knows it, and as its first task is called.
    let text: String

    private static let maximumBytes = 64
    /// Names of the daemon's own tasks begin with these.
    private static let reserved = ["bridge", "plugin", "rpc"]

    /// What stands before `Plugin` in the names of targets of Trestle's own package. A package that depends on it can
    /// have none of the same name.
    static let trestlePlugins: Set<String> = [
        "Alert", "CFixture", "CTask", "CloseWeb", "Cookies", "Counter", "Echo", "Fetch", "Fixture", "Login",
        "Persistence", "Sysinfo",
    ]

    /// - Throws: what is wrong with it, for the user that typed it.
    init(_ text: String) throws(ValidationError) {
        let rule = "a plugin's name has letters a-z, digits, - and _, and begins with a letter, such as scanner"
        guard let first = text.utf8.first, Self.isLetter(first), text.utf8.allSatisfy(Self.isAllowed) else {
            throw ValidationError("'\(PlainText.line(text))' is no name for a plugin: \(rule)")
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

    /// - Throws: why no plugin of that name can be written in a language.
    func check(for language: PluginLanguage) throws(ValidationError) {
        guard language == .swift, Self.trestlePlugins.contains(camel) else { return }
        throw ValidationError(
            "in Swift, '\(text)' would be a target \(camel)Plugin, and Trestle's own package, which it is built with, "
                + "has one of that name: choose another, such as my-\(text)")
    }

    private static func isLetter(_ byte: UInt8) -> Bool { isalpha(Int32(byte)) != 0 && byte < 0x80 }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// `qr-scan` as `QrScan`.
    var camel: String {
        text.split { $0 == "-" || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// `qr-scan` as `qr_scan`.
    var snake: String { String(text.map { $0 == "-" ? "_" : $0 }) }
}
