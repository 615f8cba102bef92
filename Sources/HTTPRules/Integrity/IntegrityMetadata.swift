/// What a body must hash to: Subresource Integrity, section 3.
public struct IntegrityMetadata: Hashable, Sendable {
    /// A hash function, the weakest first.
    public enum Algorithm: String, CaseIterable, Sendable {
        /// SHA-256.
        case sha256
        /// SHA-384.
        case sha384
        /// SHA-512.
        case sha512

        /// How many bytes a hash has.
        public var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    /// How many hashes are read: one for each version that may be served, and nobody serves more at a time.
    public static let maximumHashes = 64

    /// The strongest function that the text names; the others do not count.
    public let algorithm: Algorithm
    /// Its hashes, one of which must fit.
    public let hashes: [[UInt8]]

    /// Why a text is none.
    public enum Fault: Error, Hashable, Sendable {
        /// It names no hash, or none of a function that is known: then nothing can be checked.
        case nothingKnown
        /// A hash of a known function is no base 64, or has another length.
        case hash
        /// It has more hashes than are read.
        case tooMany
    }

    /// What a text says. A page that gives a wrong hash goes without a check by the standard's letter; here a hash of a
    /// known function that cannot be right is an error, as the caller asked for a check.
    ///
    /// - Parameter text: Hashes with spaces between, such as `sha256-…`; what follows a `?` in one is left away.
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

    /// Whether a body with this hash is one that was meant.
    ///
    /// - Parameter hash: What ``IntegrityHash`` made with the same ``algorithm``.
    public func matches(_ hash: [UInt8]) -> Bool { hashes.contains(hash) }
}
