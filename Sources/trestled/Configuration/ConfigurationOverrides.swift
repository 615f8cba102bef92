// What the command line says about settings.
import TOMLDocument

/// Values given by flags: the layer that beats the file.
struct ConfigurationOverrides: Sendable {
    /// One flag.
    struct Entry: Sendable {
        var flag: String
        var key: String
        var texts: [String]
    }

    private(set) var entries: [Entry] = []

    /// Nothing overridden.
    init() {}

    /// Sets a setting, as the flag of the same name does (`socket_mode`: `--socket-mode`).
    ///
    /// - Parameters:
    ///   - key: The setting's key, as in `limits.sessions`.
    ///   - text: What the flag was given; nil where it was not.
    ///   - flag: The flag, as errors name it, where it is not of the same name.
    mutating func set(_ key: String, _ text: String?, flag: String? = nil) {
        if let text { set(key, [text], flag: flag) }
    }

    /// Sets a list, as a flag does that may be repeated. An empty list: the flag was not given.
    mutating func set(_ key: String, _ texts: [String], flag: String? = nil) {
        guard !texts.isEmpty else { return }
        let name = flag ?? "--" + String(key.map { $0 == "_" || $0 == "." ? "-" : $0 })
        entries.append(Entry(flag: name, key: key, texts: texts))
    }
}

extension ConfigurationOverrides.Entry {
    /// The flag's text as the TOML that a file would hold: a number where one is wanted, a list where there may be
    /// several, and a relative path taken from where the daemon was started.
    func value(for shape: SettingShape, workingDirectory: String) -> TOMLValue {
        let values = texts.map { Self.value($0, shape, workingDirectory) }
        let nowhere = TOMLPosition(line: 0, column: 0)
        if case .list = shape { return TOMLValue(.array(values), at: nowhere) }
        // Of a flag given twice the last counts, as with most commands.
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
