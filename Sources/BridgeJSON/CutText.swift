extension String {
    /// Returns the text; if it has more than `limit` bytes, its beginning and "…".
    public func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        // Rounded down to a whole scalar, not a character: one character may be as long as the whole text.
        let scalars = unicodeScalars
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: scalars) == nil { end = utf8.index(before: end) }
        return String(scalars[..<end]) + "…"
    }
}
