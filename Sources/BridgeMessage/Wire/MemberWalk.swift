import CBridgeJSON

/// Cuts a long object into its members, in steps: what ``JSONCheck/cut(_:levelsAround:_:)`` does in one step. One
/// thread at a time.
public final class MemberWalk {
    /// An object of more bytes is better cut in steps.
    public static let longBytes = LineWalk.longBytes
    /// How many bytes one step takes: some microseconds.
    private static let stepBytes = 4096
    /// How many members one step hands out: some microseconds, where each is compared with a few names.
    private static let stepMembers = 128

    private let walk: LineWalk
    /// How many members ``nextMembers(_:)`` has handed out.
    private var handedOut = 0

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

    /// The same a few members at a time.
    ///
    /// - Returns: whether there are no more.
    /// - Throws: where the text is no object.
    public func nextMembers(
        _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) throws(NoObject) -> Bool {
        guard let line = try? walk.parsed(), line.isObject else { throw NoObject() }
        let end = min(line.members.count, handedOut + Self.stepMembers)
        line.handOut(handedOut..<end, member)
        handedOut = end
        return end == line.members.count
    }

    /// The text is no object.
    public struct NoObject: Error {}
}

extension ParsedLine {
    /// Hands out the members of an object.
    ///
    /// - Returns: why it is none; nil: it is one.
    func members(_ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) -> String? {
        guard isObject else { return "it is \(MessageDecoder.typeName(root)), and no object" }
        handOut(members.indices, member)
        return nil
    }

    fileprivate func handOut(
        _ indices: Range<Int>, _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) {
        for found in members[indices] { member(slice(found.key_start, found.key_length), value(found)) }
    }
}
