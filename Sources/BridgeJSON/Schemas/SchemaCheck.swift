/// A JSON Schema (2020-12) that texts are checked against, with the vocabularies of the specification: core,
/// applicator,
/// validation and unevaluated. `format` and `content…` are annotations.
///
/// Lengths count Unicode scalars, and numbers are compared by their mathematical value. A schema that cannot be
/// checked whole
/// is refused when it is read. Any thread may check, several in parallel too, each with its own `SchemaRoom`.
public final class SchemaCheck: Sendable {
    let graph: SchemaGraph
    /// Whether what does not fit is put in words by a whole check alone.
    private let isLarge: Bool

    /// - Throws: ``JSONSchemaError`` where it is no schema, refers to one that is not in it or to itself without end,
    /// or asks for
    ///   what is not supported.
    public convenience init(_ schema: JSON) throws(JSONSchemaError) { try self.init(text: schema.bytes) }

    /// - Parameter text: the schema as JSON.
    /// - Throws: as above, and where it is no JSON.
    public init(text: [UInt8]) throws(JSONSchemaError) {
        let read = text.withUnsafeBytes { bytes in
            Result { () throws(JSONSchemaError) in
                let tape = JSONTape()
                do throws(JSONSyntaxError) { try tape.read(bytes, maximumDepth: JSON.maximumDepth) } catch {
                    throw JSONSchemaError(path: "$", reason: error.description)
                }
                return try SchemaCompiler.compile(tape)
            }
        }
        graph = try read.get()
        isLarge = graph.byteCount > Self.quicklyWorded
    }

    /// Whether anything at all fits.
    public var allowsAnything: Bool { graph.rules(of: SchemaGraph.root).isEmpty }

    /// What the schema takes in memory.
    public var byteCount: Int { graph.byteCount }

    /// Checks one JSON value.
    ///
    /// - Parameter room: the working memory of a check; reuse it for many checks.
    /// - Throws: ``SchemaMisfit`` that says what does not fit and where, or that there is too much to check.
    public func check(_ bytes: UnsafeRawBufferPointer, in room: SchemaRoom = SchemaRoom()) throws(SchemaMisfit) {
        _ = try check(bytes, in: room, isQuick: false)
    }

    /// Checks one JSON value on a thread that others wait for: for about 100 µs at most, and without waiting for a
    /// pattern.
    ///
    /// - Parameter room: as above.
    /// - Returns: False where that does not suffice: nothing is known then, and ``check(_:in:)`` is to be asked,
    ///   elsewhere.
    /// - Throws: as above.
    public func checkQuickly(_ bytes: UnsafeRawBufferPointer, in room: SchemaRoom) throws(SchemaMisfit) -> Bool {
        guard bytes.count <= SchemaBudget.quickBytes else { return false }
        return try check(bytes, in: room, isQuick: true)
    }

    /// In bytes of memory that a schema takes.
    private static let quicklyWorded = 8_192

    /// False: a quick check did not suffice.
    @inline(__always)
    private func check(
        _ bytes: UnsafeRawBufferPointer, in room: SchemaRoom, isQuick: Bool
    ) throws(SchemaMisfit) -> Bool {
        defer { room.clear() }
        do { try room.tape.read(bytes) } catch { throw .mismatch(error) }
        var checking = Checking(self, room, isQuick: isQuick)
        // What is put in words about a large schema is not counted: some of it is searched, or sorted.
        let isLeft = isQuick && isLarge
        if isLeft { checking.trialDepth = 1 }
        do throws(SchemaExcess) {
            if try checking.fits(JSONTape.root, SchemaGraph.root, .none) { return true }
            if isLeft { return false }
        } catch {
            if isQuick, error.isOfHaste { return false }
            throw .tooMuch(error.reason)
        }
        throw .mismatch(room.misfit.mismatch)
    }
}

/// What a check works with: it is kept for the next one, and holds no caller's state. One thread.
public final class SchemaRoom {
    /// The value that is checked.
    private(set) var tape = JSONTape()
    /// A constant of the schema.
    private(set) var constant = JSONTape()
    /// What does not fit.
    var misfit = Misfit()

    /// Room for values, which grows with the first one.
    public init() {}

    /// Forgets the values.
    fileprivate func clear() {
        if !tape.clear() { tape = JSONTape() }
        if !constant.clear() { constant = JSONTape() }
        misfit = Misfit()
    }
}

/// Why a value is refused.
public enum SchemaMisfit: Error, Sendable, Hashable, CustomStringConvertible {
    /// It does not fit; path `$` where the text is no JSON.
    case mismatch(JSONMismatch)
    /// It is unknown: the check ended when its steps were used up. The reason is the end of a sentence.
    case tooMuch(String)

    /// What does not fit, as the end of a sentence.
    public var description: String {
        switch self {
        case .mismatch(let mismatch): mismatch.description
        case .tooMuch(let reason): "too much to check: \(reason)"
        }
    }
}

extension BridgeError {
    /// The error for options that a schema does not allow.
    public init(_ misfit: SchemaMisfit) {
        switch misfit {
        case .mismatch(let mismatch): self.init(mismatch)
        case .tooMuch:
            self.init(
                .optionsInvalid, misfit.description, data: ["steps": .number(JSONNumber(SchemaBudget.checkSteps))])
        }
    }
}
