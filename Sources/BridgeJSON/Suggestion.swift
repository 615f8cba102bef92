// "did you mean …?"

/// The one of some names that somebody probably meant.
///
/// The search is bounded, because names may come from clients: ``mostNames`` are looked at, names of more than
/// ``mostBytes`` bytes are not compared, and ``mostDistances`` distances are computed.
public enum Suggestion {
    /// How many names are looked at.
    public static let mostNames = 256
    /// The longest name that is searched for.
    static let mostBytes = 64
    /// How many names are compared letter by letter.
    static let mostDistances = 64
    /// How many names that begin with the wanted one are looked at: what so many have in common is no hint.
    static let mostLonger = 8

    /// The candidate nearest to `name`, where it is near enough to be worth a question: a third of its letters wrong,
    /// added, left out or exchanged with their neighbour; or where it is the only one that `name` begins (`warn`) or
    /// shortens (`ls` for `list`). `-` counts as `_`, and upper case as lower.
    ///
    /// - Parameter isShown: Whether a candidate may be named; asked only of those that are near.
    public static func nearest(
        to name: String, among candidates: some Sequence<String>, where isShown: (String) -> Bool = { _ in true }
    ) -> String? {
        guard !name.isEmpty, name.utf8.count <= mostBytes else { return nil }
        let wanted = Word(name)
        let looked = Array(candidates.prefix(mostNames))
        return near(wanted, looked, isShown) ?? only(looked, isShown) { $0.starts(with: wanted.letters) }
            ?? only(looked, isShown) { wanted.shortens($0) }
    }

    /// The question at the end of a message about an unknown name, such as `; did you mean 'table'?`; empty where no
    /// name is near.
    public static func question(
        for name: String, among candidates: some Sequence<String>, where isShown: (String) -> Bool = { _ in true }
    ) -> String {
        nearest(to: name, among: candidates, where: isShown).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// The end of a message about an unknown name: the question, where there is one, and the names there are.
    public static func hint(for name: String, among candidates: [String]) -> String {
        let known = candidates.isEmpty ? "there are none" : "known: " + candidates.joined(separator: ", ")
        return "\(question(for: name, among: candidates)) (\(known))"
    }

    private static func near(_ wanted: Word, _ candidates: [String], _ isShown: (String) -> Bool) -> String? {
        let bound = max(1, wanted.letters.count / 3)
        var best: (distance: Int, candidate: String)?
        var distances = 0
        for candidate in candidates where abs(candidate.utf8.count - wanted.letters.count) <= bound {
            let word = Word(candidate)
            guard wanted.mayBeNear(word, bound) else { continue }
            guard distances < mostDistances else { break }
            distances += 1
            let distance = distance(wanted.letters, word.letters)
            guard distance <= bound, distance < word.letters.count, distance < best?.distance ?? .max else { continue }
            if isShown(candidate) { best = (distance, candidate) }
        }
        return best?.candidate
    }

    /// The only candidate of a kind; nil where there are several, or more than are looked at.
    private static func only(
        _ candidates: [String], _ isShown: (String) -> Bool, _ isOfKind: ([UInt8]) -> Bool
    ) -> String? {
        var found: [String] = []
        for candidate in candidates where candidate.utf8.count <= mostBytes && isOfKind(Word(candidate).letters) {
            found.append(candidate)
            guard found.count <= mostLonger else { return nil }
        }
        let shown = found.filter(isShown)
        return shown.count == 1 ? shown[0] : nil
    }

    /// The edits between two words: letters added, left out, replaced, or exchanged with their neighbour.
    static func distance(_ from: [UInt8], _ to: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for row in 0..<from.count {
            var current = [row + 1]
            current.reserveCapacity(to.count + 1)
            for column in 0..<to.count {
                let replaced = last[column] + (from[row] == to[column] ? 0 : 1)
                var best = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, from[row] == to[column - 1], from[row - 1] == to[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[to.count]
    }

    /// A name as it is compared.
    private struct Word {
        /// In lower case, `-` as `_`.
        let letters: [UInt8]
        /// Which letters there are; letters that differ by 32 share a bit.
        let mask: UInt32

        init(_ name: String) {
            letters = name.utf8.map { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
                case UInt8(ascii: "-"): UInt8(ascii: "_")
                default: byte
                }
            }
            mask = letters.reduce(0) { $0 | 1 << UInt32($1 & 31) }
        }

        /// False where more than `bound` edits are certain: an edit takes a letter out, puts one in, or both.
        func mayBeNear(_ other: Word, _ bound: Int) -> Bool { (mask ^ other.mask).nonzeroBitCount <= 2 * bound }

        /// Whether these are two or three letters of a name, in their order and from its first on. More letters are in
        /// many long names.
        func shortens(_ name: [UInt8]) -> Bool {
            guard (2...3).contains(letters.count), letters.count < name.count, letters.first == name.first else {
                return false
            }
            var left = letters[...]
            for letter in name where letter == left.first { left.removeFirst() }
            return left.isEmpty
        }
    }
}
