/// The position of a coder in a value; written as text only when a value does not fit.
indirect enum CodingPath {
    case root
    case key(String, of: CodingPath)
    case index(Int, of: CodingPath)

    var text: String {
        switch self {
        case .root: "$"
        case .key(let key, let parent): parent.text + Self.step(key)
        case .index(let index, let parent): parent.text + "[\(index)]"
        }
    }

    /// Converts a path of the standard library.
    init(_ codingKeys: [any CodingKey]) {
        self = codingKeys.reduce(.root) { path, key in
            if let index = key.intValue { .index(index, of: path) } else { .key(key.stringValue, of: path) }
        }
    }

    /// The path in the form of the standard library.
    var codingKeys: [any CodingKey] {
        switch self {
        case .root: []
        case .key(let key, let parent): parent.codingKeys + [AnyKey(key)]
        case .index(let index, let parent): parent.codingKeys + [AnyKey(index)]
        }
    }

    /// The maximum length of a key in a path, because the sender chooses the key. In Unicode scalars: one character may
    /// be as long as the whole key.
    private static let maximumKeyScalars = 64

    private static func step(_ key: String) -> String {
        var shown = key
        if let end = key.unicodeScalars.index(key.startIndex, offsetBy: maximumKeyScalars, limitedBy: key.endIndex),
            end < key.endIndex
        {
            shown = String(key.unicodeScalars[..<end]) + "…"
        }
        return isPlain(key) ? ".\(shown)" : "[\(JSON.string(shown).text)]"
    }

    private static func isPlain(_ key: String) -> Bool {
        !key.isEmpty
            && key.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "$")
                    || byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
            }
    }
}

/// A key that consists of its name or its index only.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

/// One step of a path.
enum PathStep {
    case key(String)
    case index(Int)
}

extension [PathStep] {
    var codingPath: CodingPath {
        reduce(.root) { path, step in
            switch step {
            case .key(let key): .key(key, of: path)
            case .index(let index): .index(index, of: path)
            }
        }
    }
}
