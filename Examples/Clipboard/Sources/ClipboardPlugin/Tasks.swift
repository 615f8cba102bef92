import TaskKit

/// X has several selections; these two are what people mean by a clipboard.
enum Selection: String, Codable, Sendable, CaseIterable {
    /// What was copied.
    case clipboard
    /// What is marked, and pasted with the middle button.
    case primary
}

struct Read: BridgeTask {
    static let name = "clipboard.read"
    static let summary = "Reads the text in the clipboard."
    // What people copy is theirs, passwords among it: no log and no monitor shows it.
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
