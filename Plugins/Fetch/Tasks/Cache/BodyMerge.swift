import Glibc
import HTTPRules

/// Adds bytes to a stored body.
struct BodyMerge {
    /// The number of bytes that are copied at a time.
    private static let stepBytes = 64 << 10

    let folder: BodyFolder
    let old: CacheEntry.Body
    /// The stored ranges. Their bytes are not overwritten, because a reader may be using them.
    let held: HeldBytes

    /// Adds the bytes of a range.
    ///
    /// - Returns: The new body: the same file, or a new file if the body has become too long for a row.
    func adding(_ range: Range<Int64>, of new: NewCacheEntry.Body) throws -> CacheEntry.Body {
        switch old {
        case .bytes(let bytes):
            let end = max(Int64(bytes.count), range.upperBound)
            if end <= CacheStore.rowBytes, case .bytes(let more) = new { return .bytes(joined(bytes, more, range)) }
            let file = try folder.create()
            for piece in held.pieces {
                try file.write(Array(bytes[Int(piece.lowerBound)..<Int(piece.upperBound)]), at: piece.lowerBound)
            }
            try copy(range, of: new, to: file)
            try folder.adopt(file)
            return .file(file.name)
        case .file(let name):
            guard let file = folder.open(name, toWrite: true) else { throw BodyFile.Failure(code: ENOENT) }
            try copy(range, of: new, to: file)
            return old
        }
    }

    private func joined(_ bytes: [UInt8], _ more: [UInt8], _ range: Range<Int64>) -> [UInt8] {
        var whole = bytes
        whole += [UInt8](repeating: 0, count: max(0, Int(range.upperBound) - whole.count))
        for gap in gaps(in: range) {
            let from = Int(gap.lowerBound - range.lowerBound)
            whole.replaceSubrange(Int(gap.lowerBound)..<Int(gap.upperBound), with: more[from..<from + gap.count])
        }
        return whole
    }

    private func copy(_ range: Range<Int64>, of new: NewCacheEntry.Body, to file: BodyFile) throws {
        for gap in gaps(in: range) {
            var place = gap.lowerBound
            while place < gap.upperBound {
                let count = Int(min(Int64(Self.stepBytes), gap.upperBound - place))
                let bytes: [UInt8]
                switch new {
                case .bytes(let all):
                    let from = Int(place - range.lowerBound)
                    bytes = Array(all[from..<from + count])
                case .file(let source, _): bytes = try source.read(count, at: place)
                }
                try file.write(bytes, at: place)
                place += Int64(count)
            }
        }
    }

    /// Returns the parts of a range that are not stored yet.
    private func gaps(in range: Range<Int64>) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var place = range.lowerBound
        for piece in held.pieces where piece.upperBound > place && piece.lowerBound < range.upperBound {
            if piece.lowerBound > place { gaps.append(place..<piece.lowerBound) }
            place = max(place, piece.upperBound)
        }
        if place < range.upperBound { gaps.append(place..<range.upperBound) }
        return gaps
    }
}
