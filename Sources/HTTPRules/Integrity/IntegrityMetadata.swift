/// The hashes that a body may have: Subresource Integrity, section 3.
public struct IntegrityMetadata: Hashable, Sendable {
    /// The hash functions, from the weakest to the strongest.
    public enum Algorithm: String, CaseIterable, Sendable {
        /// SHA-256.
        case sha256
        /// SHA-384.
        case sha384
        /// SHA-512.
        case sha512

        /// The length of a hash in bytes.
        public var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    /// The maximum number of hashes that are read: one for each version that may be served. Servers serve fewer
    /// versions than this at a time.
    public static let maximumHashes = 64

    /// The strongest function in the text; hashes of other functions are ignored.
    public let algorithm: Algorithm
    /// The hashes of that function, one of which must match.
    public let hashes: [[UInt8]]

    /// The reason why a text is refused.
    public enum Fault: Error, Hashable, Sendable {
        /// The text contains no hash of a known function, so nothing can be checked.
        case nothingKnown
        /// A hash of a known function is not base 64, or has the wrong length.
        case hash
        /// The text has more hashes than are read.
        case tooMany
    }

    /// Parses a text. According to the standard, an invalid hash in a page is ignored, so the page loads without a
    /// check. Here an invalid hash of a known function is an error, because the caller requested a check.
    ///
    /// - Parameter text: Hashes separated by spaces, such as `sha256-…`; text after a `?` in a hash is ignored.
    public init(_ text: some StringProtocol) throws(Fault) {
        var found: [Algorithm: [[UInt8]]] = [:]
        var count = 0
        for word in text.split(whereSeparator: { " \t\n\u{C}\r\r\n".contains($0) }) {
            count += 1
            guard count <= Self.maximumHashes else { throw .tooMany }
            let expression = word.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)[0]
            let parts = expression.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard let algorithm = Algorithm(rawValue: FieldText.lowercase(parts[0])) else { continue }
            guard parts.count == 2, let hash = Base64.decode(parts[1]), hash.count == algorithm.byteCount else {
                throw .hash
            }
            found[algorithm, default: []].append(hash)
        }
        guard let strongest = Algorithm.allCases.last(where: { found[$0] != nil }), let hashes = found[strongest] else {
            throw .nothingKnown
        }
        algorithm = strongest
        self.hashes = hashes
    }

    /// Returns whether a body with this hash is one of the expected bodies.
    ///
    /// - Parameter hash: The result of ``IntegrityHash`` with the same ``algorithm``.
    public func matches(_ hash: [UInt8]) -> Bool { hashes.contains(hash) }
}
