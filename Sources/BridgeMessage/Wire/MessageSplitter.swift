import Glibc

/// One line of a stream of bytes, or a note about a line that was too long.
public enum SplitLine {
    /// A whole line without its end, which follows directly; readable for ``MessageSplitter/paddingBytes`` after the
    /// line.
    case line(UnsafeRawBufferPointer)
    /// A line above the limit has ended: its beginning (at most ``MessageSplitter/keptPrefixBytes``) and its length.
    case tooLarge(prefix: UnsafeRawBufferPointer, lineBytes: Int)
}

/// The beginning of a line whose end has not been received.
public struct UnfinishedLine: Sendable, Equatable {
    /// The bytes that are kept.
    public var bytes: [UInt8]
    /// Its length so far if it is above the limit and being discarded; otherwise nil.
    public var discardedBytes: Int?

    /// Creates a beginning of a line; by default there is none.
    public init(bytes: [UInt8] = [], discardedBytes: Int? = nil) {
        self.bytes = bytes
        self.discardedBytes = discardedBytes
    }
}

/// Splits a stream of bytes into lines, whatever pieces it is received in.
///
/// A line that is completely in one piece is passed on without copying; only unfinished lines are carried over. The
/// memory is limited by the longest permitted line: a longer one is discarded on arrival, except for its beginning.
public struct MessageSplitter: ~Copyable {
    /// The number of bytes that must be readable after a piece, and are readable after every line (vector code reads
    /// ahead).
    public static let paddingBytes = 64
    /// The length of the beginning that is kept of a line that is too long, to find and answer its callbackId.
    public static let keptPrefixBytes = 64 * 1024

    /// The maximum length of a line without its end. A new value also applies to the line that is being read.
    public var maximumLineBytes: Int
    private var carry: UnsafeMutableRawBufferPointer
    private var carriedBytes = 0
    /// Whether the current line already exceeds the limit, although its end has not been received.
    public var isDiscarding: Bool { discardedBytes != nil }
    /// The number of bytes of the line that is being discarded; nil if the line is within the limit.
    private var discardedBytes: Int?
    /// Whether the line that was carried over has been handed out; the next call releases its memory.
    private var hasHandedOutCarry = false

    /// - Parameter maximumLineBytes: The maximum length of a line without its end. At least 1.
    public init(maximumLineBytes: Int) {
        self.maximumLineBytes = maximumLineBytes
        carry = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit { free(carry.baseAddress) }

    /// The number of stored bytes of an unfinished line.
    public var heldBytes: Int { hasHandedOutCarry ? 0 : carriedBytes }

    /// Whether bytes of an unfinished line are stored.
    public var holdsPartOfLine: Bool { !hasHandedOutCarry && (carriedBytes > 0 || discardedBytes != nil) }

    /// Returns the next line that ends in `piece`; nil if there is none: the rest of the piece has then been carried
    /// over.
    ///
    /// - Parameters:
    ///   - piece: Readable for ``paddingBytes`` past its end.
    ///   - start: The number of its bytes that have been taken; moved after the line, or to the piece's end.
    /// - Returns: A line that is valid until the next call.
    public mutating func nextLine(of piece: UnsafeRawBufferPointer, from start: inout Int) -> SplitLine? {
        if carriedBytes == 0, discardedBytes == nil, let line = wholeLine(of: piece, from: &start) {
            return .line(line)
        }
        return nextLineOrPart(of: piece, from: &start)
    }

    /// Returns the next line in the usual case: it is completely in the piece and neither empty nor too long. Only if
    /// nothing was carried over.
    @inline(__always)
    private func wholeLine(of piece: UnsafeRawBufferPointer, from start: inout Int) -> UnsafeRawBufferPointer? {
        guard start < piece.count, let base = piece.baseAddress.map({ $0 + start }),
            let end = memchr(base, 0x0A, piece.count &- start)
        else { return nil }
        let count = UnsafeRawPointer(end) - base
        guard count > 0, count <= maximumLineBytes, base.load(fromByteOffset: count &- 1, as: UInt8.self) != 0x0D else {
            return nil
        }
        start &+= count &+ 1
        return UnsafeRawBufferPointer(start: base, count: count)
    }

    @inline(never)
    private mutating func nextLineOrPart(of piece: UnsafeRawBufferPointer, from start: inout Int) -> SplitLine? {
        if hasHandedOutCarry { endCarried() }
        while start < piece.count, let base = piece.baseAddress {
            let restBytes = piece.count - start
            guard let found = memchr(base + start, 0x0A, restBytes) else {
                keep(UnsafeRawBufferPointer(start: base + start, count: restBytes))
                start = piece.count
                return nil
            }
            let rest = UnsafeRawBufferPointer(start: base + start, count: UnsafeRawPointer(found) - (base + start))
            start += rest.count + 1
            if let line = carriedBytes == 0 && discardedBytes == nil ? whole(rest) : ending(rest) { return line }
            // The CR of an empty line had been carried over: it is not part of the next one.
            if hasHandedOutCarry { endCarried() }
        }
        return nil
    }

    /// Passes every line that ends in `piece` to `handle`, in order, until `handle` returns false.
    ///
    /// - Parameter piece: Readable for ``paddingBytes`` past its end.
    /// - Returns: The number of bytes of `piece` that were taken: all of them, unless `handle` returned false. The
    ///   caller must then pass the rest again, before any other bytes.
    public mutating func consume(_ piece: UnsafeRawBufferPointer, _ handle: (SplitLine) -> Bool) -> Int {
        var start = 0
        while let line = nextLine(of: piece, from: &start) {
            if !handle(line) { break }
        }
        return start
    }

    /// Ends the input. An unfinished line counts as a line, so that the last line needs no end of its own.
    ///
    /// - Returns: That line, valid until the next call; nil if there is none.
    public mutating func lastLine() -> SplitLine? {
        if hasHandedOutCarry { endCarried() }
        return holdsPartOfLine ? ending(UnsafeRawBufferPointer(start: nil, count: 0)) : nil
    }

    /// Transfers the memory of the last line that was handed out; nil if it had not been carried over.
    mutating func takeCarried(_ line: UnsafeRawBufferPointer) -> OwnedLine? {
        guard hasHandedOutCarry, discardedBytes == nil, line.baseAddress == UnsafeRawPointer(carry.baseAddress) else {
            return nil
        }
        let taken = OwnedLine(taking: carry, count: line.count)
        carry = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        endCarried()
        return taken
    }

    /// Discards the line whose end has not been received, except for its beginning: it will be reported as too large.
    public mutating func discardLine() {
        guard !hasHandedOutCarry, discardedBytes == nil, carriedBytes > 0 else { return }
        discardedBytes = carriedBytes
        carriedBytes = min(carriedBytes, Self.keptPrefixBytes)
        let capacity = carriedBytes + Self.paddingBytes
        // If it cannot be made smaller, it stays as it is.
        if let smaller = realloc(carry.baseAddress, capacity) {
            carry = UnsafeMutableRawBufferPointer(start: smaller, count: capacity)
        }
    }

    /// The stored part of an unfinished line, for a splitter that continues in another process.
    public var unfinished: UnfinishedLine {
        guard holdsPartOfLine else { return UnfinishedLine() }
        return UnfinishedLine(bytes: Array(carry[..<carriedBytes]), discardedBytes: discardedBytes)
    }

    /// Continues the unfinished line of another splitter. Call it before anything else.
    public mutating func resume(_ line: UnfinishedLine) {
        line.bytes.withUnsafeBytes { keep($0) }
        // If this splitter's limit is lower, it may already have begun to discard the line.
        if let discarded = line.discardedBytes { discardedBytes = max(discarded, discardedBytes ?? 0) }
    }

    /// Returns a line that is completely in a piece; nil if it is empty.
    private func whole(_ line: UnsafeRawBufferPointer) -> SplitLine? {
        guard let last = line.last else { return nil }
        let content = last == 0x0D ? UnsafeRawBufferPointer(rebasing: line.dropLast()) : line
        if content.isEmpty { return nil }
        guard content.count <= maximumLineBytes else {
            return .tooLarge(
                prefix: UnsafeRawBufferPointer(rebasing: content.prefix(Self.keptPrefixBytes)),
                lineBytes: content.count)
        }
        return .line(content)
    }

    /// Returns the line whose beginning was carried over and whose last part is `rest`.
    private mutating func ending(_ rest: UnsafeRawBufferPointer) -> SplitLine? {
        keep(rest)
        hasHandedOutCarry = true
        let carried = UnsafeRawBufferPointer(rebasing: carry[..<carriedBytes])
        if let discardedBytes { return .tooLarge(prefix: carried, lineBytes: discardedBytes) }
        // The line's end, which was not carried over: readers of lines rely on it.
        carry[carriedBytes] = 0x0A
        return whole(carried)
    }

    /// Ends the carried line after it has been handled.
    private mutating func endCarried() {
        hasHandedOutCarry = false
        carriedBytes = 0
        discardedBytes = nil
        release()
    }

    /// Carries over a part of a line, or only counts it if the line exceeds the limit.
    private mutating func keep(_ part: UnsafeRawBufferPointer) {
        if let discarded = discardedBytes {
            discardedBytes = discarded + part.count
            return
        }
        // One byte more than the limit may be the CR of a CRLF.
        let wholeBytes = carriedBytes + part.count
        if wholeBytes > maximumLineBytes + 1 {
            discardedBytes = wholeBytes
            append(part, upTo: Self.keptPrefixBytes)
            carriedBytes = min(carriedBytes, Self.keptPrefixBytes)
        } else {
            append(part, upTo: wholeBytes)
        }
    }

    /// Appends a part, up to `limitBytes` of carried bytes. Grows by doubling, when bytes arrive and not in advance.
    private mutating func append(_ part: UnsafeRawBufferPointer, upTo limitBytes: Int) {
        let addedBytes = min(part.count, limitBytes - carriedBytes)
        guard addedBytes > 0 else { return }
        let neededBytes = carriedBytes + addedBytes + Self.paddingBytes
        if neededBytes > carry.count {
            let capacity = max(neededBytes, min(carry.count * 2, maximumLineBytes + 2 + Self.paddingBytes))
            // The block is usually extended in place, and nothing is copied.
            guard let grown = realloc(carry.baseAddress, capacity) else { fatalError("no memory for a line") }
            carry = UnsafeMutableRawBufferPointer(start: grown, count: capacity)
        }
        UnsafeMutableRawBufferPointer(rebasing: carry[carriedBytes...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: part[..<addedBytes]))
        carriedBytes += addedBytes
    }

    /// Releases the memory for lines: most idle connections never need it again.
    private mutating func release() {
        free(carry.baseAddress)
        carry = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
}
