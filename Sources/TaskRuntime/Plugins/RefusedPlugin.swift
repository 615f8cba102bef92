/// A plugin that the daemon could not use, and why.
public struct RefusedPlugin: Sendable {
    /// The plugin's name; if the plugin did not report it, a name derived from its file.
    public var name: String
    /// The path of the library, or of the manifest.
    public var path: String
    /// The reason, as a sentence.
    public var reason: String

    /// Creates a refusal.
    ///
    /// - Parameter name: The plugin's name; `nil` if the plugin did not report it.
    public init(name: String? = nil, path: String, reason: String) {
        self.name = name ?? Self.name(ofFile: path)
        self.path = path
        self.reason = reason
    }

    /// Returns the most likely name of a plugin in a file: `qr-scan` for `libQrScanPlugin.so` and
    /// `qr-scan.plugin.toml`.
    static func name(ofFile path: String) -> String {
        var name = path.split(separator: "/").last ?? ""
        for suffix in [".toml", ".plugin", ".so", "Plugin"] where name.hasSuffix(suffix) {
            name = name.dropLast(suffix.count)
        }
        if path.hasSuffix(".so"), name.hasPrefix("lib"), name.count > 3 { name = name.dropFirst(3) }
        return name.reduce(into: "") { text, letter in
            if letter.isUppercase, text.last?.isLowercase == true { text += "-" }
            text += letter.lowercased()
        }
    }
}
