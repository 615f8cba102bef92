import CBridgeJSON

/// Cuts a long object into its members, in steps: what ``JSONCheck/cut(_:levelsAround:_:)`` does at once. One thread at
/// a time.
public final class MemberWalk {
    /// An object of more bytes is better cut in steps.
    public static let longBytes = OpenLine.longBytes
    /// How many bytes one step takes: some microseconds.
    private static let stepBytes = 4096

    private let walk: LineWalk

    /// - Parameters:
    ///   - text: copied.
    ///   - levelsAround: how many levels of a message's nesting the object has around it.
    public init(_ text: UnsafeRawBufferPointer, levelsAround: Int = 1) {
        let copy = OwnedLine(copying: text, UnsafeRawBufferPointer(start: nil, count: 0))
        walk = LineWalk(copy, maximumDepth: LineParser.maximumDepth - levelsAround)
    }

    /// Takes a step; true where it was the last one.
    public func step() -> Bool { walk.step(bytes: Self.stepBytes) }

    /// The copy.
    public var text: UnsafeRawBufferPointer { walk.bytes }

    /// The members, in their order, behind the last step: each with its name as it stands between the quotes, and its
    /// value. Both are parts of ``text``, valid as long as this is there.
    ///
    /// - Returns: why the text is no object, as the end of a sentence; nil: it is one.
    public func members(
        _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) -> String? {
        do throws(GrammarError) { return try walk.parsed().members(member) } catch { return error.reason }
    }
}

extension ParsedLine {
    /// Hands out the members of an object.
    ///
    /// - Returns: why it is none; nil: it is one.
    func members(_ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) -> String? {
        guard isObject else { return "it is \(MessageDecoder.typeName(root)), and no object" }
        for found in members { member(slice(found.key_start, found.key_length), value(found)) }
        return nil
    }
}
