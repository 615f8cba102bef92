/// Codable types from and to JSON like ``JSONCoding``, for who does it often and on one thread: what a text is read
/// into and written to is kept for the next one.
///
/// Reading and writing may be nested: the `body` of ``withText(of:_:)`` may use the same coder.
///
/// `@exclusivity(unchecked)`: no access to a property lasts longer than its load or store.
public final class JSONCoder {
    @exclusivity(unchecked) private var reading: TapeLender?
    @exclusivity(unchecked) private var writing: TextLender?

    /// A coder that keeps nothing yet.
    public init() {}

    /// Reads a type from a text, passing over members that it does not ask for.
    ///
    /// - Throws: ``JSONMismatch`` where the text is no JSON (path `$`) or does not fit the type.
    public func decode<T: Decodable>(_ type: T.Type, from bytes: UnsafeRawBufferPointer) throws(JSONMismatch) -> T {
        let lender = reading.take() ?? TapeLender()
        defer { if lender.takeBack() { reading = lender } }
        try lender.tape.read(bytes)
        return try lender.root.decodeRoot(type)
    }

    /// Writes a value as one line and lends it to `body`.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON; `body` is not called then.
    public func withText<T: Encodable, R>(
        of value: T, _ body: (UnsafeRawBufferPointer) -> R
    ) throws(JSONEncodingError) -> R {
        let lender = writing.take() ?? TextLender()
        defer { if lender.takeBack() { writing = lender } }
        try lender.text.encodeRoot(value)
        return body(UnsafeRawBufferPointer(lender.text.bytes.elements))
    }
}

/// A tape for one text after the other.
///
/// `@exclusivity(unchecked)`: no access to a property lasts longer than one of the functions here.
final class TapeLender {
    @exclusivity(unchecked) fileprivate var tape: JSONTape
    /// Its reference to the tape is not counted as long as it belongs to the lender.
    @exclusivity(unchecked) fileprivate var root: TapeDecoder
    @exclusivity(unchecked) var containers = HeldContainers()

    fileprivate init() {
        tape = JSONTape()
        root = TapeDecoder(tape: tape, node: JSONTape.root, path: .root)
        // Not retained, because this owns the root; unset in `deinit`.
        root.lender = Unmanaged.passUnretained(self)
        // `deinit` counts it again, before the root goes.
        Unmanaged.passUnretained(tape).release()
    }

    deinit {
        root.lender = nil
        _ = Unmanaged.passUnretained(tape).retain()
        containers.release(of: root)
    }

    /// Whether another text may be read. A type that keeps its decoder must not find the text gone, or another one.
    fileprivate func takeBack() -> Bool {
        guard containers.takeBack(), isKnownUniquelyReferenced(&root), isKnownUniquelyReferenced(&tape) else {
            tape.keepText()
            return false
        }
        return tape.clear()
    }
}

/// A text for one value after the other.
///
/// `@exclusivity(unchecked)`: no access to a property lasts longer than one of the functions here.
final class TextLender {
    @exclusivity(unchecked) fileprivate var text = EncodingText()
    @exclusivity(unchecked) var containers = HeldContainers()

    /// The text does not retain its lender, which owns it and unsets this in `deinit`.
    fileprivate init() { text.lender = Unmanaged.passUnretained(self) }

    deinit {
        text.lender = nil
        containers.release(of: text)
    }

    /// Whether another value may be written: nobody has kept an encoder that would write into that.
    fileprivate func takeBack() -> Bool {
        containers.takeBack() && isKnownUniquelyReferenced(&text) && text.clear()
    }
}
