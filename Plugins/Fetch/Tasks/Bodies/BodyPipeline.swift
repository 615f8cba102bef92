import HTTPRules
import TaskKit

/// What becomes of a response's body on its way: it is decoded, counted and hashed. One thread at a time.
final class BodyPipeline {
    private let maximumBytes: Int64
    private let decoder: ContentDecoder?
    private let integrity: IntegrityMetadata?
    private var hash: IntegrityHash?
    /// Of a body without coding, what was fed last.
    private var plain: [UInt8] = []

    /// How many bytes came.
    private(set) var wireBytes: Int64 = 0
    /// How many bytes they were when decoded.
    private(set) var decodedBytes: Int64 = 0

    /// - Parameters:
    ///   - headers: The fields of the response.
    ///   - maximumBytes: What a body may have, coded and decoded.
    ///   - integrity: What it must hash to.
    /// - Throws: `http.decoding` and `http.too_large`, where the fields say that it cannot be taken.
    init(_ headers: HeaderList, maximumBytes: Int64, integrity: IntegrityMetadata?) throws(BridgeError) {
        self.maximumBytes = maximumBytes
        self.integrity = integrity
        hash = integrity.map { IntegrityHash($0.algorithm) }
        decoder = try ContentDecoder(headers)
        if let length = headers.first(named: "Content-Length").flatMap({ Int64($0) }) { try check(length, .body) }
    }

    private func check(_ count: Int64, _ what: SizeBound) throws(BridgeError) {
        guard count > maximumBytes else { return }
        throw .tooLarge(what, limit: maximumBytes, "the body has more than \(maximumBytes) bytes; see maxBytes")
    }

    /// Takes bytes of the connection, after ``next()`` has returned nil.
    func feed(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        wireBytes += Int64(bytes.count)
        try check(wireBytes, .body)
        if let decoder { decoder.feed(bytes) } else { plain = Array(bytes) }
    }

    /// Whether the bytes of the body are those that come.
    var isPlain: Bool { decoder == nil }

    /// Takes note of the next bytes of a plain body, which are passed on as they are.
    func pass(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        wireBytes += Int64(bytes.count)
        decodedBytes += Int64(bytes.count)
        try check(wireBytes, .body)
        hash?.update(bytes)
    }

    /// The next bytes of the body; nil: more must be fed.
    func next() throws(BridgeError) -> [UInt8]? {
        guard let bytes = try decoder?.next() ?? takePlain() else { return nil }
        decodedBytes += Int64(bytes.count)
        try check(decodedBytes, .decoded)
        if hash != nil { bytes.withUnsafeBytes { hash?.update($0) } }
        return bytes
    }

    private func takePlain() -> [UInt8]? {
        defer { plain = [] }
        return plain.isEmpty ? nil : plain
    }

    /// The body has ended.
    ///
    /// - Throws: `http.decoding`, `http.integrity`.
    func finish() throws(BridgeError) {
        try decoder?.finish()
        guard let integrity, var hash else { return }
        guard integrity.matches(hash.finish()) else { throw .integrityMismatch }
    }
}
