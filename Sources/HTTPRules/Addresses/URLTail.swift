/// The part of a URL after the authority, or a relative reference: path, query and fragment as they are written.
struct URLTail {
    /// The path; empty if there is none.
    let path: ArraySlice<UInt8>
    /// The text after `?`; `nil` if there is none.
    let query: ArraySlice<UInt8>?
    /// The text after `#`; `nil` if there is none.
    let fragment: ArraySlice<UInt8>?

    /// Splits the bytes into path, query and fragment (RFC 3986, appendix B).
    ///
    /// - Parameter bytes: The bytes from the path on.
    init(_ bytes: ArraySlice<UInt8>) {
        let hash = bytes.firstIndex(of: UInt8(ascii: "#"))
        let before = bytes[..<(hash ?? bytes.endIndex)]
        let mark = before.firstIndex(of: UInt8(ascii: "?"))
        fragment = hash.map { bytes[($0 + 1)...] }
        query = mark.map { before[($0 + 1)...] }
        path = before[..<(mark ?? before.endIndex)]
    }

    /// Returns the path, percent-encoded where required and without dot segments (RFC 3986, section 5.2.4). A
    /// percent-encoded dot counts as a dot, as in the URL standard.
    ///
    /// - Parameter raw: A path that is empty or begins with a slash.
    /// - Returns: A path that begins with a slash.
    /// - Throws: The reason, if there is a backslash.
    static func canonicalPath(_ raw: ArraySlice<UInt8>) throws(AddressRefusal) -> [UInt8] {
        guard !raw.contains(UInt8(ascii: "\\")) else {
            throw AddressRefusal(.backslash, "the path has a backslash; write a slash, or %5C")
        }
        var path: [UInt8] = []
        var starts: [Int] = []
        let segments = raw.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let dots = dots(segment)
            if dots == 2, let start = starts.popLast() { path.removeSubrange(start...) }
            if dots == 0 || index == segments.count - 1 {
                starts.append(path.count)
                path.append(UInt8(ascii: "/"))
                if dots == 0 { PercentEncoding.append(segment, in: .path, to: &path) }
            }
        }
        return path.isEmpty ? [UInt8(ascii: "/")] : path
    }

    /// Returns the number of dots if the segment consists of one or two dots, otherwise 0.
    private static func dots(_ segment: ArraySlice<UInt8>) -> Int {
        guard (1...6).contains(segment.count) else { return 0 }
        var rest = segment
        var count = 0
        while let first = rest.first {
            if first == UInt8(ascii: ".") {
                rest = rest.dropFirst()
            } else if first == UInt8(ascii: "%"), AddressBytes.starts(rest, with: "%2e") {
                rest = rest.dropFirst(3)
            } else {
                return 0
            }
            count += 1
        }
        return count <= 2 ? count : 0
    }
}
