// "did you mean …?"

/// Finds the one of several names that the user probably meant.
///
/// The search is bounded, because names may come from clients. It considers ``maximumNames`` names and compares none of
/// more than ``maximumBytes`` bytes. It computes ``maximumDistances`` distances, for the names that have the most
/// letters in common.
public enum Suggestion {
    /// The maximum number of names that are considered.
    public static let maximumNames = 256
    /// The maximum length of a name that is searched for.
    static let maximumBytes = 64
    /// The maximum number of names that are compared letter by letter.
    static let maximumDistances = 8
    /// The maximum number of names with the same beginning; the beginning of more names is not a hint.
    static let maximumCandidates = 8

    /// Returns the candidate nearest to `name`, if it is near enough for a question; nil if none is. A candidate is
    /// near if at most a third of its letters are wrong, added, missing or exchanged with their neighbour. It also
    /// counts if it is the only one that `name` is the beginning (`warn`) or a short form of (`ls` for `list`). `-`
    /// equals `_`, and upper case equals lower case.
    ///
    /// - Parameter isShown: whether a candidate may be named. Called only for near candidates.
    public static func nearest(
        to name: String, among candidates: some Sequence<String>, where isShown: (String) -> Bool = { _ in true }
    ) -> String? {
        guard !name.isEmpty, name.utf8.count <= maximumBytes else { return nil }
        let wanted = Word(name)
        let looked = Array(candidates.prefix(maximumNames))
        return near(wanted, looked, isShown) ?? only(looked, isShown) { wanted.begins($0) }
            ?? only(looked, isShown) { wanted.shortens($0) }
    }

    /// Returns the question at the end of a message about an unknown name, such as `; did you mean 'table'?`; empty if
    /// no name is near.
    public static func question(
        for name: String, among candidates: some Sequence<String>, where isShown: (String) -> Bool = { _ in true }
    ) -> String {
        nearest(to: name, among: candidates, where: isShown).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// Returns the end of a message about an unknown name: the question, if there is one, and the known names.
    public static func hint(for name: String, among candidates: [String]) -> String {
        let known = candidates.isEmpty ? "there are none" : "known: " + candidates.joined(separator: ", ")
        return "\(question(for: name, among: candidates)) (\(known))"
    }

    private static func near(_ wanted: Word, _ candidates: [String], _ isShown: (String) -> Bool) -> String? {
        let bound = max(1, wanted.letters.count / 3)
        var best: (distance: Int, candidate: String)?
        for candidate in likely(wanted, candidates, bound) {
            let word = Word(candidate)
            let maximum = min(bound, word.letters.count - 1, (best?.distance ?? .max) - 1)
            guard let distance = distance(wanted.letters, word.letters, atMost: maximum), isShown(candidate) else {
                continue
            }
            best = (distance, candidate)
        }
        return best?.candidate
    }

    /// Returns the candidates that are worth a comparison: those that differ in the fewest kinds of letters.
    private static func likely(_ wanted: Word, _ candidates: [String], _ bound: Int) -> [String] {
        var likely: [(difference: Int, candidate: String)] = []
        for candidate in candidates where abs(candidate.utf8.count - wanted.letters.count) <= bound {
            let difference = (wanted.mask ^ Word.mask(of: candidate)).nonzeroBitCount
            // An edit removes a letter, inserts one, or both.
            guard difference <= 2 * bound else { continue }
            let index = likely.firstIndex { $0.difference > difference } ?? likely.count
            guard index < maximumDistances else { continue }
            if likely.count == maximumDistances { likely.removeLast() }
            likely.insert((difference, candidate), at: index)
        }
        return likely.map(\.candidate)
    }

    /// Returns the only candidate of a kind; nil if there are several, or too many to consider.
    private static func only(
        _ candidates: [String], _ isShown: (String) -> Bool, _ isOfKind: (String.UTF8View) -> Bool
    ) -> String? {
        var found: [String] = []
        for candidate in candidates where candidate.utf8.count <= maximumBytes && isOfKind(candidate.utf8) {
            found.append(candidate)
            guard found.count <= maximumCandidates else { return nil }
        }
        let shown = found.filter(isShown)
        return shown.count == 1 ? shown[0] : nil
    }

    /// Returns the number of edits between two words: letters added, left out, replaced, or exchanged with their
    /// neighbour. Nil if there are more than `bound`.
    ///
    /// Only the cells of the table of distances within `bound` of the diagonal are computed. The computation stops
    /// after a row in which all cells exceed `bound`. Memory is allocated only on the stack.
    static func distance(_ from: [UInt8], _ to: [UInt8], atMost bound: Int) -> Int? {
        guard bound >= 0, abs(from.count - to.count) <= bound else { return nil }
        let width = to.count + 1
        let beyond = bound + 1
        return withUnsafeTemporaryAllocation(of: Int.self, capacity: 3 * width) { rows in
            rows.initialize(repeating: beyond)
            for column in 0...min(bound, to.count) { rows[column] = column }
            var (beforeLast, last, current) = (2 * width, 0, width)
            for row in 0..<from.count {
                let columns = max(0, row - bound)..<max(0, min(to.count, row + bound + 1))
                var minimum = row + 1
                rows[current + columns.lowerBound] = columns.lowerBound == 0 ? row + 1 : beyond
                for column in columns {
                    let replaced = rows[last + column] + (from[row] == to[column] ? 0 : 1)
                    var best = min(replaced, rows[last + column + 1] + 1, rows[current + column] + 1)
                    if row > 0, column > 0, from[row] == to[column - 1], from[row - 1] == to[column] {
                        best = min(best, rows[beforeLast + column - 1] + 1)
                    }
                    rows[current + column + 1] = min(best, beyond)
                    minimum = min(minimum, best)
                }
                if columns.upperBound < to.count { rows[current + columns.upperBound + 1] = beyond }
                guard minimum <= bound else { return nil }
                (beforeLast, last, current) = (last, current, beforeLast)
            }
            let found = rows[last + to.count]
            return found <= bound ? found : nil
        }
    }

    /// A name in the form in which it is compared.
    private struct Word {
        /// The letters in lower case, with `-` as `_`.
        let letters: [UInt8]
        /// The set of letters; letters that differ by 32 share a bit.
        let mask: UInt32

        init(_ name: String) {
            letters = name.utf8.map(Self.folded)
            mask = Self.mask(of: name)
        }

        private static func folded(_ byte: UInt8) -> UInt8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "-"): UInt8(ascii: "_")
            default: byte
            }
        }

        static func mask(of name: String) -> UInt32 {
            name.utf8.reduce(0) { $0 | 1 << UInt32(folded($1) & 31) }
        }

        /// Whether a name begins with this word.
        func begins(_ name: String.UTF8View) -> Bool { name.lazy.map(Self.folded).starts(with: letters) }

        /// Whether this word consists of two or three letters of a name, in their order and including its first. More
        /// letters occur in many long names.
        func shortens(_ name: String.UTF8View) -> Bool {
            guard (2...3).contains(letters.count), letters.count < name.count,
                letters.first == name.first.map(Self.folded)
            else {
                return false
            }
            var left = letters[...]
            for letter in name where Self.folded(letter) == left.first { left.removeFirst() }
            return left.isEmpty
        }
    }
}
