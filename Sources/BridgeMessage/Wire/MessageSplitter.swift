import Glibc

/// One line out of a stream of bytes, or word of one that was too long.
public enum SplitLine {
    /// A whole line without its end, which stands right behind it; readable for ``MessageSplitter/paddingBytes`` there.
    case line(UnsafeRawBufferPointer)
    /// A line longer than the limit has ended: its beginning (at most ``MessageSplitter/keptPrefixBytes``) and its
    /// length.
    case tooLarge(prefix: UnsafeRawBufferPointer, lineBytes: Int)
}

/// The beginning of a line whose end has not come.
public struct UnfinishedLine: Sendable, Equatable {
    /// What is kept of it.
    public var bytes: [UInt8]
    /// Its length so far, where it is longer than the limit and being discarded.
    public var discardedBytes: Int?

    /// By default there is none.
    public init(bytes: [UInt8] = [], discardedBytes: Int? = nil) {
        self.bytes = bytes
        self.discardedBytes = discardedBytes
    }
}

/// Cuts a stream of bytes into lines, whatever the pieces in which it comes.
///
/// A line that lies whole in one piece is handed on where it lies; only unfinished lines are carried over. Memory
/// stays bounded by the longest permitted line: a longer one is discarded as it arrives, but for its beginning.
public struct MessageSplitter: ~Copyable {
    /// Bytes that must be readable behind a piece, and are readable behind every line (vector code reads ahead).
    public static let paddingBytes = 64
    /// How much of a line that is too long is kept, so that its callbackId can be found and answered.
    public static let keptPrefixBytes = 64 * 1024

    /// The longest line, its end not counted. Another bound holds for the line that is being read, too.
    public var maximumLineBytes: Int
    private var carry: UnsafeMutableRawBufferPointer
    private var carriedBytes = 0
    /// Whether the line at hand is longer than permitted already, though its end has not come.
    public var isDiscarding: Bool { discardedBytes != nil }
    /// Bytes of the line being discarded, `nil` where the line is still within the limit.
    private var discardedBytes: Int?
    /// The line that was carried over has been handed out: what holds it goes with the next call.
    private var hasHandedOutCarry = false

    /// - Parameter maximumLineBytes: the longest line, its end not counted. At least 1.
    public init(maximumLineBytes: Int) {
        self.maximumLineBytes = maximumLineBytes
        carry = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit { free(carry.baseAddress) }

    /// How many bytes of an unfinished line are held.
    public var heldBytes: Int { hasHandedOutCarry ? 0 : carriedBytes }

    /// Whether bytes of an unfinished line are held.
    public var holdsPartOfLine: Bool { !hasHandedOutCarry && (carriedBytes > 0 || discardedBytes != nil) }

    /// The next line that ends in `piece`; nil where none does: what is left of the piece has been carried over then.
    ///
    /// - Parameters:
    ///   - piece: readable for ``paddingBytes`` past its end.
    ///   - start: how much of it has been taken; moved on behind the line, or to the piece's end.
    /// - Returns: a line that is good until the next call.
    public mutating func nextLine(of piece: UnsafeRawBufferPointer, from start: inout Int) -> SplitLine? {
        if carriedBytes == 0, discardedBytes == nil, let line = wholeLine(of: piece, from: &start) {
            return .line(line)
        }
        return nextLineOrPart(of: piece, from: &start)
    }

    /// The next line, where it lies whole in the piece and is neither empty nor too long, as is usual. Only where
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
            // The CR of an empty line had been carried over: it is no part of the next one.
            if hasHandedOutCarry { endCarried() }
        }
        return nil
    }

    /// Hands every line that ends in `piece` to `handle`, in order, until `handle` returns false.
    ///
    /// - Parameter piece: readable for ``paddingBytes`` past its end.
    /// - Returns: how many bytes of `piece` were taken: all of them, unless `handle` asked to stop; the rest is to be
    ///   given again, first.
    public mutating func consume(_ piece: UnsafeRawBufferPointer, _ handle: (SplitLine) -> Bool) -> Int {
        var start = 0
        while let line = nextLine(of: piece, from: &start) {
            if !handle(line) { break }
        }
        return start
    }

    /// The input has ended: an unfinished line counts as one, so that the last line needs no end of its own.
    ///
    /// - Returns: that line, good until the next call; nil: there is none.
    public mutating func lastLine() -> SplitLine? {
        if hasHandedOutCarry { endCarried() }
        return holdsPartOfLine ? ending(UnsafeRawBufferPointer(start: nil, count: 0)) : nil
    }

    /// Gives away the line that was handed out last, where it had been carried over; nil: it had not been.
    mutating func takeCarried(_ line: UnsafeRawBufferPointer) -> OwnedLine? {
        guard hasHandedOutCarry, discardedBytes == nil, line.baseAddress == UnsafeRawPointer(carry.baseAddress) else {
            return nil
        }
        let taken = OwnedLine(taking: carry, count: line.count)
        carry = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        endCarried()
        return taken
    }

    /// Discards the line whose end has not come, but for its beginning: it will be one that was too large.
    public mutating func discardLine() {
        guard !hasHandedOutCarry, discardedBytes == nil, carriedBytes > 0 else { return }
        discardedBytes = carriedBytes
        carriedBytes = min(carriedBytes, Self.keptPrefixBytes)
        let capacity = carriedBytes + Self.paddingBytes
        // Where it cannot be made smaller it stays as it is.
        if let smaller = realloc(carry.baseAddress, capacity) {
            carry = UnsafeMutableRawBufferPointer(start: smaller, count: capacity)
        }
    }

    /// What is held of an unfinished line, for a splitter that goes on in another process.
    public var unfinished: UnfinishedLine {
        guard holdsPartOfLine else { return UnfinishedLine() }
        return UnfinishedLine(bytes: Array(carry[..<carriedBytes]), discardedBytes: discardedBytes)
    }

    /// Goes on with the unfinished line of another splitter. Before anything else.
    public mutating func resume(_ line: UnfinishedLine) {
        line.bytes.withUnsafeBytes { keep($0) }
        // Where this splitter's limit is lower, it may have begun to discard the line by itself.
        if let discarded = line.discardedBytes { discardedBytes = max(discarded, discardedBytes ?? 0) }
    }

    /// A line that lies whole in a piece; nil where it is empty.
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

    /// The line whose beginning was carried over and whose last part is `rest`.
    private mutating func ending(_ rest: UnsafeRawBufferPointer) -> SplitLine? {
        keep(rest)
        hasHandedOutCarry = true
        let carried = UnsafeRawBufferPointer(rebasing: carry[..<carriedBytes])
        if let discardedBytes { return .tooLarge(prefix: carried, lineBytes: discardedBytes) }
        // The line's end, which was not carried over: those who read lines rely on one.
        carry[carriedBytes] = 0x0A
        return whole(carried)
    }

    /// The carried line has been handled.
    private mutating func endCarried() {
        hasHandedOutCarry = false
        carriedBytes = 0
        discardedBytes = nil
        release()
    }

    /// Carries over the part of a line, or counts it where the line is beyond the limit.
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

    /// Appends what fits below `limitBytes` of carried bytes. Grows by doubling, as bytes arrive and not ahead of them.
    private mutating func append(_ part: UnsafeRawBufferPointer, upTo limitBytes: Int) {
        let addedBytes = min(part.count, limitBytes - carriedBytes)
        guard addedBytes > 0 else { return }
        let neededBytes = carriedBytes + addedBytes + Self.paddingBytes
        if neededBytes > carry.count {
            let capacity = max(neededBytes, min(carry.count * 2, maximumLineBytes + 2 + Self.paddingBytes))
            // Most often the block just becomes longer, and nothing is copied.
            guard let grown = realloc(carry.baseAddress, capacity) else { fatalError("no memory for a line") }
            carry = UnsafeMutableRawBufferPointer(start: grown, count: capacity)
        }
        UnsafeMutableRawBufferPointer(rebasing: carry[carriedBytes...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: part[..<addedBytes]))
        carriedBytes += addedBytes
    }

    /// An idle connection holds no memory for lines: most of them never need any again.
    private mutating func release() {
        free(carry.baseAddress)
        carry = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
}
