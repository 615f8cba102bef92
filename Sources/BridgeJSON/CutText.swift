extension String {
    /// The text, or its beginning and "…" where it is longer than so many bytes.
    public func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        // Rounded down to a whole scalar: one character may be as long as the whole.
        let scalars = unicodeScalars
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: scalars) == nil { end = utf8.index(before: end) }
        return String(scalars[..<end]) + "…"
    }
}
