/// A path in a result that is not compared, including its contents: `$.version`, `$.records[*].key`, `$.list[0]`,
/// `$["a.b"]`. A path in an error is written as `error.data.key`.
struct IgnoredPath: Equatable, Sendable {
    enum Part: Equatable, Sendable {
        case member(String)
        case element(Int)
        case anyElement
        case anyMember
    }

    /// Whether it is a path in an error, not in a result.
    let isOfError: Bool
    let parts: [Part]

    /// `nil` if the text is not a valid path.
    init?(_ text: String) {
        let root = text.hasPrefix("$") ? "$" : "error"
        guard text.hasPrefix(root), let parts = Self.parts(text.dropFirst(root.count)) else { return nil }
        isOfError = root == "error"
        self.parts = parts
    }

    /// Returns whether a path is equal to this one or inside it.
    func holds(_ path: OutcomePath) -> Bool {
        guard isOfError == path.isOfError, path.parts.count >= parts.count else { return false }
        return zip(parts, path.parts).allSatisfy { pattern, part in
            switch (pattern, part) {
            case (.anyElement, .element), (.anyMember, .member): true
            default: pattern == part
            }
        }
    }

    private static func parts(_ text: Substring) -> [Part]? {
        var (rest, parts) = (text, [Part]())
        while let first = rest.first {
            rest = rest.dropFirst()
            switch first {
            case ".":
                let name = rest.prefix { $0 != "." && $0 != "[" }
                guard !name.isEmpty else { return nil }
                parts.append(name == "*" ? .anyMember : .member(String(name)))
                rest = rest.dropFirst(name.count)
            case "[":
                guard let part = bracketed(&rest) else { return nil }
                parts.append(part)
            default: return nil
            }
        }
        return parts
    }

    /// Parses the contents of brackets: a number, an asterisk, or a name in quotes.
    private static func bracketed(_ rest: inout Substring) -> Part? {
        if rest.first == "\"" {
            let name = rest.dropFirst().prefix { $0 != "\"" }
            let behind = rest.dropFirst(name.count + 1)
            guard behind.hasPrefix("\"]") else { return nil }
            rest = behind.dropFirst(2)
            return .member(String(name))
        }
        let inside = rest.prefix { $0 != "]" }
        rest = rest.dropFirst(inside.count + 1)
        if inside == "*" { return .anyElement }
        return Int(inside).flatMap { $0 >= 0 ? .element($0) : nil }
    }
}

/// A path in a result or in an error.
struct OutcomePath: Equatable, Sendable, CustomStringConvertible {
    var isOfError = false
    var parts: [IgnoredPath.Part] = []

    static let result = OutcomePath()
    static let error = OutcomePath(isOfError: true)

    func member(_ name: String) -> OutcomePath { OutcomePath(isOfError: isOfError, parts: parts + [.member(name)]) }
    func element(_ index: Int) -> OutcomePath { OutcomePath(isOfError: isOfError, parts: parts + [.element(index)]) }

    var description: String {
        parts.reduce(isOfError ? "error" : "$") { text, part in
            switch part {
            case .member(let name) where Self.isPlain(name): text + ".\(name)"
            case .member(let name): text + "[\(GeneratedText.quoted(name))]"
            case .element(let index): text + "[\(index)]"
            case .anyElement: text + "[*]"
            case .anyMember: text + ".*"
            }
        }
    }

    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "$"):
                    true
                default: false
                }
            }
    }
}
