/// The part of a stored response that answers a request: RFC 9111, section 4.
public struct StoredAnswer: Hashable, Sendable {
    /// The bytes of the body that are sent.
    public enum Part: Hashable, Sendable {
        /// All bytes, with the stored status.
        case whole
        /// These bytes, with status 206. `length` is the length of the whole body; `nil` if it is unknown.
        case range(Range<Int64>, length: Int64?)
        /// No bytes, because none of the requested bytes exists; status 416. `length` is the length of the whole body.
        case unsatisfiable(length: Int64)
        /// No bytes, because the caller has them; status 304.
        case notModified
        /// No bytes, because the request is a HEAD; with the stored status.
        case headersOnly
    }

    /// The stored response.
    public let stored: StoredResponse
    /// The part of it that is sent.
    public let part: Part
    /// Whether the server has just confirmed it.
    public var isValidated: Bool

    /// Creates the answer to a request; `nil` if the store lacks bytes for it.
    ///
    /// - Parameters:
    ///   - stored: A response that the request selects.
    ///   - request: The request.
    ///   - isValidated: Whether the server has just confirmed it.
    public init?(_ stored: StoredResponse, to request: CacheRequest, isValidated: Bool = false) {
        guard let part = Self.part(of: stored, for: request) else { return nil }
        self.stored = stored
        self.part = part
        self.isValidated = isValidated
    }

    private static func part(of stored: StoredResponse, for request: CacheRequest) -> Part? {
        let conditions = CallerConditions(request.fields)
        if conditions.areThere, conditions.areMet(by: stored) { return .notModified }
        guard request.method == "GET" else { return stored.body.isComplete ? .headersOnly : nil }
        let ranges = request.fields.values(named: FieldName.range)
        let isAsked = !ranges.isEmpty && (stored.status == 200 || stored.status == 206)
        guard isAsked, conditions.permitRange(of: stored) else { return stored.body.isComplete ? .whole : nil }
        // The server must handle several ranges and other units.
        guard ranges.count == 1, let range = ByteRange(ranges[0]) else { return nil }
        return part(of: stored.body, range: range)
    }

    /// Returns the part for a range from the stored bytes; `nil` if bytes are missing: RFC 9110, section 14.2.
    private static func part(of body: HeldBytes, range: ByteRange) -> Part? {
        guard let length = body.length else {
            guard case .bounds(let first, .some(let last)) = range, last < .max else { return nil }
            return body.contains(first..<(last + 1)) ? .range(first..<(last + 1), length: nil) : nil
        }
        guard let bytes = range.resolved(length: length) else { return .unsatisfiable(length: length) }
        return body.contains(bytes) ? .range(bytes, length: length) : nil
    }

    /// The status of the answer.
    public var status: Int {
        switch part {
        case .whole, .headersOnly: stored.statusOfWhole
        case .range: 206
        case .unsatisfiable: 416
        case .notModified: 304
        }
    }

    /// The bytes of the stored body that are sent; `nil` if none are.
    public var bytes: Range<Int64>? {
        switch part {
        case .whole: 0..<(stored.body.length ?? 0)
        case .range(let range, _): range
        case .unsatisfiable, .notModified, .headersOnly: nil
        }
    }

    /// Returns the fields of the answer: the stored ones, with the age (RFC 9111, section 5.1). Fields that `no-cache`
    /// names are omitted unless the server has just confirmed them (section 5.2.2.4).
    ///
    /// - Parameter now: The time.
    public func fields(at now: UnixTime) -> HeaderList {
        var fields = stored.fields
        if !isValidated, case .fields(let names) = stored.directives.noCache {
            let withheld = Set(names)
            fields.removeAll { withheld.contains(FieldText.lowercase($0.name)) }
        }
        fields.set(FieldName.age, "\(TimeSpan.wholeSeconds(min(stored.age(at: now), DeltaSeconds.maximum)))")
        describePart(in: &fields)
        return fields
    }

    private func describePart(in fields: inout HeaderList) {
        switch part {
        case .whole, .headersOnly:
            guard stored.status == 206 else { return }
            fields.remove(named: FieldName.contentRange)
            fields.set(FieldName.contentLength, "\(stored.body.length ?? 0)")
        case .range(let range, let length):
            fields.set(FieldName.contentRange, ContentRange(range: range, length: length).text)
            fields.set(FieldName.contentLength, "\(range.count)")
        case .unsatisfiable(let length):
            fields.set(FieldName.contentRange, ContentRange(range: nil, length: length).text)
            fields.set(FieldName.contentLength, "0")
        case .notModified:
            // RFC 9110, section 15.4.5.
            for name in [
                FieldName.contentEncoding, FieldName.contentLength, FieldName.contentRange, FieldName.contentType,
            ] { fields.remove(named: name) }
        }
    }
}
