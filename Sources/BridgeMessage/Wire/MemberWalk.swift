import CBridgeJSON

/// Splits a long object into its members in steps; ``JSONCheck/cut(_:levelsAround:_:)`` does the same in one step. One
/// thread at a time.
public final class MemberWalk {
    /// The length above which an object should be split in steps.
    public static let longBytes = LineWalk.longBytes
    /// The number of bytes that one step checks, in some microseconds.
    private static let stepBytes = 4096
    /// The number of members that one step hands out: some microseconds, if each is compared with a few names.
    private static let stepMembers = 128

    private let walk: LineWalk
    /// The number of members that ``nextMembers(_:)`` has handed out.
    private var handedOut = 0

    /// - Parameters:
    ///   - text: The object; it is copied.
    ///   - levelsAround: The number of levels of a message that enclose the object.
    public init(_ text: UnsafeRawBufferPointer, levelsAround: Int = 1) {
        let copy = OwnedLine(copying: text, UnsafeRawBufferPointer(start: nil, count: 0))
        walk = LineWalk(copy, maximumDepth: LineParser.maximumDepth - levelsAround)
    }

    /// Takes a step. Returns true if it was the last one.
    public func step() -> Bool { walk.step(bytes: Self.stepBytes) }

    /// The copy.
    public var text: UnsafeRawBufferPointer { walk.bytes }

    /// Passes the next few members to `member`, in their order, after the last step. Each has its name as written
    /// between the quotes, and its value. Both are parts of ``text``, valid during the lifetime of this object.
    ///
    /// - Returns: Whether there are no more.
    /// - Throws: ``NoObject`` if the text is not an object.
    public func nextMembers(
        _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) throws(NoObject) -> Bool {
        guard let line = try? walk.parsed(), line.isObject else { throw NoObject() }
        let end = min(line.members.count, handedOut + Self.stepMembers)
        line.handOut(handedOut..<end, member)
        handedOut = end
        return end == line.members.count
    }

    /// The text is not an object.
    public struct NoObject: Error {}
}

extension ParsedLine {
    /// Passes the members of an object to `member`.
    ///
    /// - Returns: The reason why it is not an object; nil if it is one.
    func members(_ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) -> String? {
        guard isObject else { return "it is \(MessageDecoder.typeName(root)), not an object" }
        handOut(members.indices, member)
        return nil
    }

    fileprivate func handOut(
        _ indices: Range<Int>, _ member: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) {
        for found in members[indices] { member(slice(found.key_start, found.key_length), value(found)) }
    }
}
