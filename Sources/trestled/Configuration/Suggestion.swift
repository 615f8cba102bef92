// "did you mean …?"

/// The one of some names that somebody probably meant.
enum Suggestion {
    /// The candidate nearest to `name`, where it is near enough to be worth a question: a third of its letters wrong,
    /// added, left out or exchanged with their neighbour; or where it is the only one that `name` begins (`warn`).
    /// `-` counts as `_`, and upper case as lower.
    static func nearest(to name: String, among candidates: [String]) -> String? {
        let wanted = folded(name)
        let bound = max(1, wanted.count / 3)
        let near = candidates.compactMap { candidate -> (distance: Int, candidate: String)? in
            let letters = folded(candidate)
            // A length that differs by more cannot be near: spares the table for absurd names.
            guard abs(letters.count - wanted.count) <= bound else { return nil }
            let distance = distance(wanted, letters)
            return distance <= bound && distance < letters.count ? (distance, candidate) : nil
        }
        return near.min { $0.distance < $1.distance }?.candidate ?? only(wanted, among: candidates)
    }

    private static func only(_ beginning: [Character], among candidates: [String]) -> String? {
        let longer = candidates.filter { folded($0).starts(with: beginning) }
        return beginning.isEmpty || longer.count != 1 ? nil : longer[0]
    }

    /// The end of a message about an unknown name: the question, where there is one, and the names there are.
    static func hint(for name: String, among candidates: [String]) -> String {
        let question = nearest(to: name, among: candidates).map { "; did you mean `\($0)`?" } ?? ""
        let known = candidates.isEmpty ? "there are none" : "known: " + candidates.joined(separator: ", ")
        return "\(question) (\(known))"
    }

    private static func folded(_ name: String) -> [Character] {
        name.lowercased().map { $0 == "-" ? "_" : $0 }
    }

    /// The edits between two words: letters added, left out, replaced, or exchanged with their neighbour.
    static func distance(_ from: [Character], _ to: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for row in 0..<from.count {
            var current = [row + 1]
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
}
