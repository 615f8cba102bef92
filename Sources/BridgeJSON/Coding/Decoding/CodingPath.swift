/// A step on the way from the whole value to a part of it.
enum PathStep {
    case key(String)
    case index(Int)

    /// A key in a path is shown up to this length: it is the sender's, and may be as long as a message.
    private static let shownKeyCount = 64

    fileprivate var text: String {
        switch self {
        case .index(let index): return "[\(index)]"
        case .key(let key) where Self.isPlain(key): return ".\(key)"
        case .key(let key):
            let shown = key.unicodeScalars.prefix(Self.shownKeyCount)
            let isWhole = shown.endIndex == key.unicodeScalars.endIndex
            return "[\(JSON.string(String(shown) + (isWhole ? "" : "…")).text)]"
        }
    }

    fileprivate var codingKey: AnyKey {
        switch self {
        case .key(let key): AnyKey(key)
        case .index(let index): AnyKey(index)
        }
    }

    private static func isPlain(_ key: String) -> Bool {
        (1...shownKeyCount).contains(key.utf8.count)
            && key.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "$")
                    || byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
            }
    }
}

extension [PathStep] {
    /// The path as people read it: `$.where[2].name`.
    var text: String { reduce(into: "$") { $0 += $1.text } }

    /// The path as the standard library has it.
    var codingKeys: [any CodingKey] { map(\.codingKey) }
}

/// A key that is just its name.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

/// Finds the path to an entry by going down from the root.
///
/// It remembers where it last was in each container: a type that tries one form after the other asks for the path to
/// every element of a list, and going through the list anew each time would make that quadratic.
struct PathFinder {
    /// A child of a container: which one it is, and its entry (of a member that of its key).
    private struct Child {
        var ordinal: Int
        var entry: Int
    }

    private var lastChildren: [Int: Child] = [:]

    mutating func steps(to target: Int, of tape: Tape, in bytes: UnsafeRawBufferPointer) -> [PathStep] {
        var steps: [PathStep] = []
        var container = 0
        while container < target {
            let isObject = tape.entries[container].kind == .object
            let child = child(of: container, holding: target, in: tape, isObject: isObject)
            steps.append(isObject ? .key(tape.entries[child.entry].string(in: bytes)) : .index(child.ordinal))
            container = isObject ? child.entry + 1 : child.entry
        }
        return steps
    }

    private mutating func child(of container: Int, holding target: Int, in tape: Tape, isObject: Bool) -> Child {
        var child = Child(ordinal: 0, entry: container + 1)
        if let last = lastChildren[container], last.entry <= target { child = last }
        while true {
            let next = Int(tape.entries[isObject ? child.entry + 1 : child.entry].next)
            if next > target { break }
            child = Child(ordinal: child.ordinal + 1, entry: next)
        }
        lastChildren[container] = child
        return child
    }
}
