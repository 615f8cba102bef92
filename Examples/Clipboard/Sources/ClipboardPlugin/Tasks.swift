import TaskKit

/// The selections of X that users regard as a clipboard. X has more.
enum Selection: String, Codable, Sendable, CaseIterable {
    /// The copied content.
    case clipboard
    /// The marked text, pasted with the middle button.
    case primary
}

struct Read: BridgeTask {
    static let name = "clipboard.read"
    static let summary = "Reads the text in the clipboard."
    // Copied texts belong to the user and may be passwords: no log and no monitor shows them.
    static let settings = TaskSettings(isPrivate: true)
    struct Options: Codable, Sendable { var selection: Selection? }
    struct Result: Codable, Sendable { var text: String }

    let clipboard: Clipboard

    func run(_ options: Options, _ call: Call) async throws -> Result {
        try await Result(text: clipboard.read(options.selection ?? .clipboard, for: call))
    }
}

struct Write: BridgeTask {
    static let name = "clipboard.write"
    static let summary = "Puts a text into the clipboard."
    static let settings = TaskSettings(isPrivate: true, optionBytes: TaskSettings.anyOptionBytes)
    struct Options: Codable, Sendable { var text: String; var selection: Selection? }

    let clipboard: Clipboard

    func run(_ options: Options, _ call: Call) async throws -> Empty {
        try await clipboard.write(options.text, to: options.selection ?? .clipboard, for: call)
        return Empty()
    }
}

struct Clear: BridgeTask {
    static let name = "clipboard.clear"
    static let summary = "Empties the clipboard."
    static let settings = TaskSettings(permission: "clipboard.write")
    struct Options: Codable, Sendable { var selection: Selection? }

    let clipboard: Clipboard

    func run(_ options: Options, _ call: Call) async throws -> Empty {
        try await clipboard.clear(options.selection ?? .clipboard, for: call)
        return Empty()
    }
}
