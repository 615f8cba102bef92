import BridgeJSON
import CBridgeJSON

/// Checks lines against the whole grammar of JSON and splits them into the members of their top level.
///
/// It owns the working memory of the C parser; one thread at a time. The result borrows both the line and that memory,
/// and is valid until the next line.
struct LineParser: ~Copyable {
    /// The maximum size of a copy whose memory is kept for the next one.
    private static let keptCopyBytes = 64 * 1024

    /// The maximum nesting depth of a message; its envelope counts as one level.
    static let maximumDepth = 128

    private let parser: OpaquePointer
    /// The parser's result for the current text.
    private let text = UnsafeMutablePointer<bridge_json_text>.allocate(capacity: 1)
    private var copy = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// - Parameter names: The names to look for among the keys; the caller keeps them.
    init(_ names: MemberNames? = nil) {
        guard let parser = bridge_json_parser_create(names.pointer) else {
            fatalError("no memory for a parser of messages")
        }
        self.parser = parser
    }

    deinit {
        bridge_json_parser_destroy(parser)
        text.deallocate()
        copy.deallocate()
    }

    /// Returns the reason why the text is not JSON; nil if it is.
    mutating func fault(in text: UnsafeRawBufferPointer, maximumDepth: Int) -> GrammarError? {
        defer { if copy.count > Self.keptCopyBytes { releaseCopy() } }
        do throws(GrammarError) {
            _ = try parse(inCopy(of: text), maximumDepth: maximumDepth)
            return nil
        } catch {
            return error
        }
    }

    /// Splits an object into its members; see ``JSONCheck/cut(_:levelsAround:_:)``.
    mutating func cut(
        _ text: UnsafeRawBufferPointer, maximumDepth: Int,
        _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) -> String? {
        defer { if copy.count > Self.keptCopyBytes { releaseCopy() } }
        do throws(GrammarError) {
            let parsed = try parse(inCopy(of: text), maximumDepth: maximumDepth)
            // Parts of the text itself, which lives longer than the parser's copy of it.
            return ParsedLine(line: text, text: parsed.text).members(member)
        } catch {
            return error.reason
        }
    }

    /// Returns a copy of the text, followed by what the parser requires: a line end and readable bytes.
    mutating func inCopy(of text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let neededBytes = text.count + MessageSplitter.paddingBytes
        if copy.count < neededBytes {
            releaseCopy()
            copy = .allocate(byteCount: max(neededBytes, 4096), alignment: 16)
        }
        copy.copyMemory(from: text)
        copy[text.count] = 0x0A
        return UnsafeRawBufferPointer(rebasing: copy[..<text.count])
    }

    private mutating func releaseCopy() {
        copy.deallocate()
        copy = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// Returns the members of the text's top level: those of an object or an array; none for any other value.
    ///
    /// - Parameter line: Readable for ``MessageSplitter/paddingBytes`` past its end, with a line end or another control
    ///   character directly after it.
    @inline(__always)
    func parse(_ line: UnsafeRawBufferPointer, maximumDepth: Int = Self.maximumDepth) throws(GrammarError)
        -> ParsedLine
    {
        let bytes = line.baseAddress?.assumingMemoryBound(to: CChar.self)
        guard bridge_json_parse(parser, bytes, line.count, UInt32(maximumDepth), text) else {
            throw GrammarError(text.pointee)
        }
        return ParsedLine(line: line, text: UnsafePointer(text))
    }
}

/// A valid line, split into its members.
struct ParsedLine {
    let line: UnsafeRawBufferPointer
    /// The parser's result, not copied: a copy would be written in small parts and read in large ones.
    let text: UnsafePointer<bridge_json_text>

    /// The first byte of the value.
    var root: UInt8 { text.pointee.root }

    @inline(__always)
    var members: UnsafeBufferPointer<bridge_json_member> {
        UnsafeBufferPointer(start: text.pointee.members, count: Int(text.pointee.count))
    }

    var isObject: Bool { root == UInt8(ascii: "{") }
    var isArray: Bool { root == UInt8(ascii: "[") }

    @inline(__always)
    func slice(_ start: UInt32, _ length: UInt32) -> UnsafeRawBufferPointer {
        // The line is not empty, so it has an address.
        UnsafeRawBufferPointer(start: line.baseAddress.unsafelyUnwrapped + Int(start), count: Int(length))
    }

    func value(_ member: bridge_json_member) -> UnsafeRawBufferPointer {
        slice(member.value_start, member.value_length)
    }
}

/// The reason why a text is not JSON.
struct GrammarError: Error {
    let kind: Int32
    /// The position of the error.
    let offset: Int

    init(_ text: bridge_json_text) {
        kind = Int32(text.error)
        offset = Int(text.error_offset)
    }

    /// Whether the only error is the nesting depth, in the part that was read.
    var isDepth: Bool { kind == Int32(BRIDGE_JSON_DEPTH) }

    /// The reason as the end of a sentence.
    var reason: String {
        switch Int(kind) {
        case Int(BRIDGE_JSON_EMPTY): "there is no JSON value"
        case Int(BRIDGE_JSON_UTF8): "it is not valid UTF-8 at byte \(offset)"
        case Int(BRIDGE_JSON_CONTROL): "a string contains a raw control character at byte \(offset); escape it"
        case Int(BRIDGE_JSON_UNCLOSED): "a string does not end"
        case Int(BRIDGE_JSON_ESCAPE): "an unknown escape or a lone surrogate at byte \(offset)"
        case Int(BRIDGE_JSON_NUMBER): "not a valid JSON number at byte \(offset)"
        case Int(BRIDGE_JSON_LITERAL): "neither true, false nor null at byte \(offset)"
        case Int(BRIDGE_JSON_DEPTH): "nested deeper than \(LineParser.maximumDepth) levels at byte \(offset)"
        case Int(BRIDGE_JSON_VALUE): "expected a value at byte \(offset)"
        case Int(BRIDGE_JSON_KEY): "expected a key in quotes at byte \(offset)"
        case Int(BRIDGE_JSON_COLON): "expected a colon at byte \(offset)"
        case Int(BRIDGE_JSON_ARRAY_NEXT): "expected a comma or ] at byte \(offset)"
        case Int(BRIDGE_JSON_OBJECT_NEXT): "expected a comma or } at byte \(offset)"
        case Int(BRIDGE_JSON_TRAILING): "something follows the value at byte \(offset)"
        default: "there is not enough memory for it"
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns a part of these bytes, borrowed. The caller ensures that it is within them: nothing is checked, because
    /// this is called for every field of every message.
    @inline(__always)
    func slice(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: baseAddress.map { $0 + start }, count: count)
    }
}
