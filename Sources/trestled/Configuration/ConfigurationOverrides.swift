// The settings of the command line.
import TOMLDocument

/// Values given by flags: the layer that overrides the file.
struct ConfigurationOverrides: Sendable {
    /// One flag.
    struct Entry: Sendable {
        var flag: String
        var key: String
        var texts: [String]
    }

    private(set) var entries: [Entry] = []

    /// Creates an empty layer.
    init() {}

    /// Sets a setting, as the flag of the same name does (`socket_mode`: `--socket-mode`).
    ///
    /// - Parameters:
    ///   - key: The setting's key, such as `limits.sessions`.
    ///   - text: The value of the flag; `nil` if it was not given.
    ///   - flag: The name of the flag in errors; `nil` if it follows from the key.
    mutating func set(_ key: String, _ text: String?, flag: String? = nil) {
        if let text { set(key, [text], flag: flag) }
    }

    /// Sets a list, as a repeatable flag does. The list is empty if the flag was not given.
    mutating func set(_ key: String, _ texts: [String], flag: String? = nil) {
        guard !texts.isEmpty else { return }
        let name = flag ?? "--" + String(key.map { $0 == "_" || $0 == "." ? "-" : $0 })
        entries.append(Entry(flag: name, key: key, texts: texts))
    }
}

extension ConfigurationOverrides.Entry {
    /// Converts the flag's text to the TOML value that a file would contain: a number for a numeric setting, an array
    /// for a list. A relative path is resolved against the daemon's working directory.
    func value(for shape: SettingShape, workingDirectory: String) -> TOMLValue {
        let values = texts.map { Self.value($0, shape, workingDirectory) }
        let nowhere = TOMLPosition(line: 0, column: 0)
        if case .list = shape { return TOMLValue(.array(values), at: nowhere) }
        // The last one counts if a flag was given twice, as in most commands.
        return values.last ?? TOMLValue(.string(""), at: nowhere)
    }

    private static func value(_ text: String, _ shape: SettingShape, _ workingDirectory: String) -> TOMLValue {
        let nowhere = TOMLPosition(line: 0, column: 0)
        switch shape {
        case .list(let item):
            return value(text, item, workingDirectory)
        case .count, .bytes:
            return TOMLValue(Int64(text).map { .integer($0) } ?? .string(text), at: nowhere)
        case .path:
            let isRelative = !text.isEmpty && !text.hasPrefix("/")
            return TOMLValue(.string(isRelative ? text.wholePath(from: workingDirectory) : text), at: nowhere)
        case .truth:
            return TOMLValue(["true": true, "false": false][text].map { .boolean($0) } ?? .string(text), at: nowhere)
        case .text, .urlScheme, .fileMode, .choice, .duration, .callQuotas:
            return TOMLValue(.string(text), at: nowhere)
        }
    }
}
