/// A plugin that the daemon could not use, and why.
public struct RefusedPlugin: Sendable {
    /// Its name, where it has said it; else what the name of its file says.
    public var name: String
    /// The path of the library, or of the manifest.
    public var path: String
    /// Why, in a sentence.
    public var reason: String

    /// A refusal.
    ///
    /// - Parameter name: nil: the plugin has not said it.
    public init(name: String? = nil, path: String, reason: String) {
        self.name = name ?? Self.name(ofFile: path)
        self.path = path
        self.reason = reason
    }

    /// What a plugin of that file is most likely called: `qr-scan` for `libQrScanPlugin.so` and `qr-scan.plugin.toml`.
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
