import HTTPRules
import TaskKit

/// Decodes, counts and hashes the body of a response. One thread at a time.
final class BodyPipeline {
    private let maximumBytes: Int64
    private let decoder: ContentDecoder?
    private let integrity: IntegrityMetadata?
    private var hash: IntegrityHash?
    /// The bytes that were fed last, for a body without coding.
    private var plain: [UInt8] = []

    /// The number of received bytes.
    private(set) var wireBytes: Int64 = 0
    /// The number of decoded bytes.
    private(set) var decodedBytes: Int64 = 0

    /// Creates a pipeline for a response.
    ///
    /// - Parameters:
    ///   - headers: The fields of the response.
    ///   - maximumBytes: The maximum length of the body, both coded and decoded.
    ///   - integrity: The required hash; `nil` if there is none.
    /// - Throws: `http.decoding` and `http.too_large`, if the fields state that the body cannot be accepted.
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

    /// Accepts bytes of the connection. ``next()`` must have returned `nil` before.
    func feed(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        wireBytes += Int64(bytes.count)
        try check(wireBytes, .body)
        if let decoder { decoder.feed(bytes) } else { plain = Array(bytes) }
    }

    /// Whether the body needs no decoding.
    var isPlain: Bool { decoder == nil }

    /// Counts and hashes the next bytes of a plain body. The caller passes them on unchanged.
    func pass(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        wireBytes += Int64(bytes.count)
        decodedBytes += Int64(bytes.count)
        try check(wireBytes, .body)
        hash?.update(bytes)
    }

    /// Returns the next bytes of the body; `nil` if more must be fed.
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

    /// Checks the whole body after its end.
    ///
    /// - Throws: `http.decoding`, `http.integrity`.
    func finish() throws(BridgeError) {
        try decoder?.finish()
        guard let integrity, var hash else { return }
        guard integrity.matches(hash.finish()) else { throw .integrityMismatch }
    }
}
