import TaskKit

/// The plugin's section of the configuration.
struct Section: Codable, Sendable {
    /// The folder; `nil` for `files` in the plugin's state directory, which is created.
    var folder: String?
    /// The maximum size of a file that is written, in bytes.
    var fileBytes: Int?

    enum CodingKeys: String, CodingKey {
        case folder
        case fileBytes = "file_bytes"
    }

    static let standardFileBytes = 1 << 30

    /// The descriptions of the settings, for operators.
    static let settings: [String: JSON] = [
        "folder": ["description": "The folder, an absolute path. Absent: a folder in the plugin's state directory."],
        "file_bytes": [
            "description": "The longest file that is written, in bytes.", "default": 1_073_741_824, "minimum": 1,
        ],
    ]

    func check() throws {
        if let folder, !folder.hasPrefix("/") {
            throw BridgeError(
                .configurationInvalid, "folder is \(folder); it must be an absolute path",
                data: ["path": "$.folder", "expected": "an absolute path", "got": .string(folder)])
        }
        if let fileBytes, fileBytes < 1 {
            throw BridgeError(
                .configurationInvalid, "file_bytes is \(fileBytes); it must be at least 1",
                data: ["path": "$.file_bytes", "expected": "at least 1", "got": .string("\(fileBytes)")])
        }
    }
}
