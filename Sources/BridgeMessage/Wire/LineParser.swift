import BridgeJSON
import CBridgeJSON

/// Checks lines against the whole grammar of JSON and cuts them into the members of their top level.
///
/// Owns the working memory of the C parser; one thread at a time. What it hands out borrows both the line and that
/// memory: good until the next line.
struct LineParser: ~Copyable {
    /// Copies of up to this size are kept in memory for the next one.
    private static let keptCopyBytes = 64 * 1024

    /// How deep a message may be nested, its envelope counting as one level.
    static let maximumDepth = 128

    private let parser: OpaquePointer
    /// What it says of the text at hand.
    private let text = UnsafeMutablePointer<bridge_json_text>.allocate(capacity: 1)
    private var copy = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// - Parameter names: what is looked for among the keys; kept by the caller.
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

    /// Why the text is not JSON; nil where it is.
    mutating func fault(in text: UnsafeRawBufferPointer, maximumDepth: Int) -> GrammarError? {
        defer { if copy.count > Self.keptCopyBytes { releaseCopy() } }
        do throws(GrammarError) {
            _ = try parse(inCopy(of: text), maximumDepth: maximumDepth)
            return nil
        } catch {
            return error
        }
    }

    /// The members of an object; see ``JSONCheck/cut(_:levelsAround:_:)``.
    mutating func cut(
        _ text: UnsafeRawBufferPointer, maximumDepth: Int,
        _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) -> String? {
        defer { if copy.count > Self.keptCopyBytes { releaseCopy() } }
        do throws(GrammarError) {
            let parsed = try parse(inCopy(of: text), maximumDepth: maximumDepth)
            // Of the text itself, which is there longer than the parser's copy of it.
            return ParsedLine(line: text, text: parsed.text).members(member)
        } catch {
            return error.reason
        }
    }

    /// The text with what the parser asks for behind it: a line end, and bytes that may be read.
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

    /// The members of the text's top level: of an object, of an array, or none for any other value.
    ///
    /// - Parameter line: readable for ``MessageSplitter/paddingBytes`` past its end, with a line end or another control
    ///   character right behind it.
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

/// A good line, cut.
struct ParsedLine {
    let line: UnsafeRawBufferPointer
    /// What the parser says of it. Where it lies: a copy of it would be written in small parts and read in large ones.
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
        // There is an address: something stands in the line.
        UnsafeRawBufferPointer(start: line.baseAddress.unsafelyUnwrapped + Int(start), count: Int(length))
    }

    func value(_ member: bridge_json_member) -> UnsafeRawBufferPointer {
        slice(member.value_start, member.value_length)
    }
}

/// Why a text is not JSON.
struct GrammarError: Error {
    let kind: Int32
    /// Where it stops being JSON.
    let offset: Int

    init(_ text: bridge_json_text) {
        kind = Int32(text.error)
        offset = Int(text.error_offset)
    }

    /// Whether it is nothing but nested too deep, as far as it was read.
    var isDepth: Bool { kind == Int32(BRIDGE_JSON_DEPTH) }

    /// The reason as the end of a sentence.
    var reason: String {
        switch Int(kind) {
        case Int(BRIDGE_JSON_EMPTY): "there is no JSON value"
        case Int(BRIDGE_JSON_UTF8): "it is not valid UTF-8 at byte \(offset)"
        case Int(BRIDGE_JSON_CONTROL): "a string contains a raw control character at byte \(offset); escape it"
        case Int(BRIDGE_JSON_UNCLOSED): "a string does not end"
        case Int(BRIDGE_JSON_ESCAPE): "an unknown escape or a lone surrogate at byte \(offset)"
        case Int(BRIDGE_JSON_NUMBER): "no number of JSON's grammar at byte \(offset)"
        case Int(BRIDGE_JSON_LITERAL): "neither true, false nor null at byte \(offset)"
        case Int(BRIDGE_JSON_DEPTH): "nested deeper than \(LineParser.maximumDepth) levels at byte \(offset)"
        case Int(BRIDGE_JSON_VALUE): "a value was expected at byte \(offset)"
        case Int(BRIDGE_JSON_KEY): "a key in quotes was expected at byte \(offset)"
        case Int(BRIDGE_JSON_COLON): "a colon was expected at byte \(offset)"
        case Int(BRIDGE_JSON_ARRAY_NEXT): "a comma or ] was expected at byte \(offset)"
        case Int(BRIDGE_JSON_OBJECT_NEXT): "a comma or } was expected at byte \(offset)"
        case Int(BRIDGE_JSON_TRAILING): "something follows the value at byte \(offset)"
        default: "there is no memory for it"
        }
    }
}

extension UnsafeRawBufferPointer {
    /// A part of these bytes, borrowed as they are. The caller knows that it lies within them: nothing is checked,
    /// because this is done for every field of every message.
    @inline(__always)
    func slice(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: baseAddress.map { $0 + start }, count: count)
    }
}
