import BridgeJSON
import CSimdjson

/// Checks lines against the whole grammar of JSON and cuts them into the members of their top level.
///
/// Owns the working memory of the C parser; one thread at a time. What it hands out borrows both the line and that
/// memory: good until the next line.
struct LineParser: ~Copyable {
    /// How deep a message may be nested, its envelope counting as one level.
    static let maximumDepth = 128

    private let parser: OpaquePointer

    init() {
        guard let parser = bridge_json_parser_create() else { fatalError("no memory for a parser of messages") }
        self.parser = parser
    }

    deinit { bridge_json_parser_destroy(parser) }

    /// The members of the text's top level: of an object, of an array, or none for any other value.
    ///
    /// - Parameter text: readable for ``MessageSplitter/paddingBytes`` past its end.
    func parse(_ text: UnsafeRawBufferPointer, maximumDepth: Int = Self.maximumDepth) throws(GrammarError)
        -> ParsedLine
    {
        var result = bridge_json_text()
        let bytes = text.baseAddress?.assumingMemoryBound(to: CChar.self)
        guard bridge_json_parse(parser, bytes, text.count, UInt32(maximumDepth), &result) else {
            throw GrammarError(kind: Int32(result.error), offset: Int(result.error_offset))
        }
        return ParsedLine(
            line: text, root: result.root,
            members: UnsafeBufferPointer(start: result.members, count: Int(result.count)))
    }
}

/// A good line, cut.
struct ParsedLine {
    let line: UnsafeRawBufferPointer
    /// The first byte of the value.
    let root: UInt8
    let members: UnsafeBufferPointer<bridge_json_member>

    var isObject: Bool { root == UInt8(ascii: "{") }
    var isArray: Bool { root == UInt8(ascii: "[") }

    func key(_ member: bridge_json_member) -> UnsafeRawBufferPointer {
        line.slice(Int(member.key_start), Int(member.key_length))
    }

    func value(_ member: bridge_json_member) -> UnsafeRawBufferPointer {
        line.slice(Int(member.value_start), Int(member.value_length))
    }
}

/// Why a text is not JSON.
struct GrammarError: Error {
    let kind: Int32
    /// Where the walk stopped; 0 where the vector pass refused the text as a whole.
    let offset: Int

    /// The reason as the end of a sentence.
    var reason: String {
        switch Int(kind) {
        case Int(BRIDGE_JSON_EMPTY): "there is no JSON value"
        case Int(BRIDGE_JSON_UTF8): "it is not valid UTF-8"
        case Int(BRIDGE_JSON_CONTROL): "a string bears a raw control character; escape it"
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
    /// A part of these bytes, borrowed as they are.
    @inline(__always)
    func slice(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[start..<start + count])
    }
}
