import Glibc
import TaskKit

/// The plugin's section of the configuration.
struct Section: Codable, Sendable {
    /// The X display; `nil` for that of the environment.
    var display: String?
    /// The file with the key to the display; `nil` for that of the environment, or else `.Xauthority` in the home
    /// directory.
    var xauthority: String?
    /// The program; `nil` for the `xclip` on the PATH.
    var tool: String?
    /// The time limit of the program, in milliseconds.
    var timeoutMs: Int?
    /// The maximum length of a text, in bytes of UTF-8.
    var textBytes: Int?

    enum CodingKeys: String, CodingKey {
        case display, xauthority, tool
        case timeoutMs = "timeout_ms"
        case textBytes = "text_bytes"
    }

    private static let timeouts = 1...60_000
    private static let sizes = 1...67_108_864

    /// The descriptions of the settings, for operators.
    static let settings: [String: JSON] = [
        "display": ["description": "The X display, such as :0. Absent: $DISPLAY, where the plugin's process has it."],
        "xauthority": ["description": "The file with the key to the display. Absent: $XAUTHORITY, else ~/.Xauthority."],
        "tool": ["description": "The program xclip: its path, or a name on the PATH.", "default": "xclip"],
        "timeout_ms": [
            "description": "How long the clipboard's owner may take to answer, in milliseconds.",
            "default": 3_000, "minimum": 1, "maximum": 60_000,
        ],
        "text_bytes": [
            "description": "The longest text, in bytes of UTF-8. It has to fit into a message, too.",
            "default": 262_144, "minimum": 1, "maximum": 67_108_864,
        ],
    ]

    func check() throws {
        try Self.check(timeoutMs, "timeout_ms", Self.timeouts)
        try Self.check(textBytes, "text_bytes", Self.sizes)
        for (key, value) in [("display", display), ("xauthority", xauthority), ("tool", tool)] where value == "" {
            throw BridgeError(
                .configurationInvalid, "\(key) is empty; leave it out to have the default.",
                data: ["path": .string("$.\(key)"), "expected": "a text that is not empty", "got": "an empty one"])
        }
    }

    private static func check(_ value: Int?, _ key: String, _ range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
        throw BridgeError(
            .configurationInvalid, "\(key) is \(value); it must be \(expected).",
            data: ["path": .string("$.\(key)"), "expected": .string(expected), "got": .string("\(value)")])
    }
}

/// The settings of the clipboard: the section with the defaults filled in.
struct Settings: Sendable {
    var display: String?
    var xauthority: String?
    var tool = "xclip"
    var timeout = Duration.milliseconds(3_000)
    /// A quarter of the longest message, because JSON may need more bytes for a text than the text has.
    var textBytes = 262_144

    init(_ section: Section = Section()) {
        display = section.display ?? Self.variable("DISPLAY")
        xauthority = section.xauthority ?? Self.variable("XAUTHORITY")
        if let tool = section.tool { self.tool = tool }
        if let timeout = section.timeoutMs { self.timeout = .milliseconds(timeout) }
        if let textBytes = section.textBytes { self.textBytes = textBytes }
    }

    /// Returns the environment variables that the tool needs, and no others.
    func environment(display: String) -> [String] {
        var variables = ["DISPLAY=\(display)", "LC_ALL=C"]
        if let xauthority { variables.append("XAUTHORITY=\(xauthority)") }
        // A plugin in a process of its own has no HOME; the user database contains it.
        if let home = Self.variable("HOME") ?? Self.homeDirectory() { variables.append("HOME=\(home)") }
        if let path = Self.variable("PATH") { variables.append("PATH=\(path)") }
        return variables
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }

    private static func homeDirectory() -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let directory = entry.pw_dir
        else { return nil }
        return String(cString: directory)
    }
}
