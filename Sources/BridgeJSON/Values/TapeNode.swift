/// One key or value of a text. The nodes are in one row: a container, then its content, each key before its value.
struct TapeNode: BitwiseCopyable {
    enum Kind: UInt8 {
        case null, `true`, `false`, number, string, array, object
    }

    /// The start in the text; for a string or key, the position after its quote. For an object: the key at which the
    /// next search for a member begins, because types mostly request members in the order in which they were written.
    var start: UInt32
    /// The number of bytes in the text, without quotes; for a container, the number of its members or elements.
    var count: UInt32
    /// The node after this one and everything in it. For a key: the next key of the object.
    var next: UInt32
    /// For a value: its kind. For a key: the index of its value. Also contains the flags.
    private var info: UInt32

    private static let escapeFlag: UInt32 = 1 << 31
    private static let noteFlag: UInt32 = 1 << 30

    init(_ kind: Kind, start: UInt32, count: UInt32 = 0, next: UInt32, hasEscapes: Bool = false) {
        (self.start, self.count, self.next) = (start, count, next)
        info = UInt32(kind.rawValue) | (hasEscapes ? Self.escapeFlag : 0)
    }

    /// Creates a key; its value comes next.
    init(keyAt start: UInt32, count: UInt32, value: UInt32, hasEscapes: Bool) {
        (self.start, self.count, self.next) = (start, count, 0)
        info = value | (hasEscapes ? Self.escapeFlag : 0)
    }

    var hasEscapes: Bool { info & Self.escapeFlag != 0 }

    /// For a value. The bits are valid: every value was created with a kind.
    var kind: Kind {
        @inline(__always) get { unsafeBitCast(UInt8(truncatingIfNeeded: info & 7), to: Kind.self) }
    }

    /// For a key: the index of its value.
    var value: Int {
        get { Int(info & ~Self.escapeFlag) }
        set { info = info & Self.escapeFlag | UInt32(newValue) }
    }

    /// For a number: whether it has neither fraction nor exponent.
    var isPlainInteger: Bool {
        get { info & Self.noteFlag != 0 }
        set { setNote(newValue) }
    }

    /// For an object that is being read: whether two of its keys may be equal.
    var mayHaveDuplicates: Bool {
        get { info & Self.noteFlag != 0 }
        set { setNote(newValue) }
    }

    private mutating func setNote(_ isSet: Bool) {
        info = isSet ? info | Self.noteFlag : info & ~Self.noteFlag
    }
}
