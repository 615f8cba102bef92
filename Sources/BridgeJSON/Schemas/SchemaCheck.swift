/// Checks texts against a JSON Schema (2020-12), with the vocabularies of the specification: core, applicator,
/// validation and unevaluated. `format` and `content…` are annotations.
///
/// Lengths count Unicode scalars, and numbers are compared by their mathematical value. A schema that cannot be checked
/// completely is refused when it is read. Any thread may check, several in parallel too, each with its own
/// `SchemaRoom`.
public final class SchemaCheck: Sendable {
    let graph: SchemaGraph
    /// Whether only a complete check describes what does not fit.
    private let isLarge: Bool

    /// - Throws: ``JSONSchemaError`` if it is not a schema, if it refers to a schema that it does not contain or to
    ///   itself without end, or if it uses unsupported features.
    public convenience init(_ schema: JSON) throws(JSONSchemaError) { try self.init(text: schema.bytes) }

    /// - Parameter text: The schema as JSON.
    /// - Throws: The same errors, also if the text is not JSON.
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

    /// Whether the schema allows every value.
    public var allowsAnything: Bool { graph.rules(of: SchemaGraph.root).isEmpty }

    /// The memory that the schema uses, in bytes.
    public var byteCount: Int { graph.byteCount }

    /// Checks one JSON value.
    ///
    /// - Parameter room: The working memory of a check; reuse it for many checks.
    /// - Throws: ``SchemaMisfit`` that describes what does not fit and where, or states that there is too much to
    ///   check.
    public func check(_ bytes: UnsafeRawBufferPointer, in room: SchemaRoom = SchemaRoom()) throws(SchemaMisfit) {
        _ = try check(bytes, in: room, isQuick: false)
    }

    /// Checks one JSON value on a thread that others wait for: for about 100 µs at most, and without waiting for a
    /// pattern.
    ///
    /// - Parameter room: As above.
    /// - Returns: False if that is not sufficient: the result is unknown, and the caller must use ``check(_:in:)`` on
    ///   another thread.
    /// - Throws: As above.
    public func checkQuickly(_ bytes: UnsafeRawBufferPointer, in room: SchemaRoom) throws(SchemaMisfit) -> Bool {
        guard bytes.count <= SchemaBudget.quickBytes else { return false }
        return try check(bytes, in: room, isQuick: true)
    }

    /// The size of a schema, in bytes of memory, up to which a quick check describes what does not fit.
    private static let quicklyWorded = 8_192

    /// Returns false if a quick check was not sufficient.
    @inline(__always)
    private func check(
        _ bytes: UnsafeRawBufferPointer, in room: SchemaRoom, isQuick: Bool
    ) throws(SchemaMisfit) -> Bool {
        defer { room.clear() }
        do { try room.tape.read(bytes) } catch { throw .mismatch(error) }
        var checking = Checking(self, room, isQuick: isQuick)
        // The steps do not include the description of a misfit: for a large schema it requires searching and sorting.
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

/// The working memory of a check. It is reused for the next check and contains no caller's state. One thread.
public final class SchemaRoom {
    /// The value that is being checked.
    private(set) var tape = JSONTape()
    /// A constant of the schema.
    private(set) var constant = JSONTape()
    /// The value that does not fit.
    var misfit = Misfit()

    /// Creates an empty room, which grows with the first value.
    public init() {}

    /// Removes the values.
    fileprivate func clear() {
        if !tape.clear() { tape = JSONTape() }
        if !constant.clear() { constant = JSONTape() }
        misfit = Misfit()
    }
}

/// The reason why a value is refused.
public enum SchemaMisfit: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value does not fit; the path is `$` if the text is not JSON.
    case mismatch(JSONMismatch)
    /// The result is unknown: the check ended at a limit. The reason is the end of a sentence.
    case tooMuch(String)

    /// The description as the end of a sentence.
    public var description: String {
        switch self {
        case .mismatch(let mismatch): mismatch.description
        case .tooMuch(let reason): "too much to check: \(reason)"
        }
    }
}

extension BridgeError {
    /// Creates the error for options that a schema does not allow.
    public init(_ misfit: SchemaMisfit) {
        switch misfit {
        case .mismatch(let mismatch): self.init(mismatch)
        case .tooMuch:
            self.init(
                .optionsInvalid, misfit.description, data: ["steps": .number(JSONNumber(SchemaBudget.checkSteps))])
        }
    }
}
