/// One key or value of a text, in a row of all of them: a container, then what is in it, each key before its value.
struct TapeNode: BitwiseCopyable {
    enum Kind: UInt8 {
        case null, `true`, `false`, number, string, array, object
    }

    /// Where it begins in the text: a string or key behind its quote. Of an object: the key at which the next search
    /// for a member begins; types ask for members in the order in which they were written, mostly.
    var start: UInt32
    /// How many bytes of the text it is, without quotes; how many members or elements it has.
    var count: UInt32
    /// What comes behind it and everything in it. Of a key: the next key of the object.
    var next: UInt32
    /// Of a value: its kind. Of a key: the index of its value. And the flags.
    private var info: UInt32

    private static let escapeFlag: UInt32 = 1 << 31
    private static let noteFlag: UInt32 = 1 << 30

    init(_ kind: Kind, start: UInt32, count: UInt32 = 0, next: UInt32, hasEscapes: Bool = false) {
        (self.start, self.count, self.next) = (start, count, next)
        info = UInt32(kind.rawValue) | (hasEscapes ? Self.escapeFlag : 0)
    }

    /// A key; its value comes next.
    init(keyAt start: UInt32, count: UInt32, value: UInt32, hasEscapes: Bool) {
        (self.start, self.count, self.next) = (start, count, 0)
        info = value | (hasEscapes ? Self.escapeFlag : 0)
    }

    var hasEscapes: Bool { info & Self.escapeFlag != 0 }

    /// Of a value. The bits are those of a kind: every value was made with one.
    var kind: Kind {
        @inline(__always) get { unsafeBitCast(UInt8(truncatingIfNeeded: info & 7), to: Kind.self) }
    }

    /// Of a key.
    var value: Int {
        get { Int(info & ~Self.escapeFlag) }
        set { info = info & Self.escapeFlag | UInt32(newValue) }
    }

    /// Of a number: it has neither fraction nor exponent.
    var isPlainInteger: Bool {
        get { info & Self.noteFlag != 0 }
        set { setNote(newValue) }
    }

    /// Of an object that is being read: two of its keys may be the same.
    var mayHaveDuplicates: Bool {
        get { info & Self.noteFlag != 0 }
        set { setNote(newValue) }
    }

    private mutating func setNote(_ isSet: Bool) {
        info = isSet ? info | Self.noteFlag : info & ~Self.noteFlag
    }
}
