/// References to documents, resolved as in RFC 3986.
enum SchemaURI {
    private struct Parts {
        var scheme: Substring?
        var authority: Substring?
        var path: Substring
        var query: Substring?

        init(_ text: Substring) {
            var rest = text
            if let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")),
                !rest[..<colon].utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") })
            {
                scheme = rest[..<colon]
                rest = rest[rest.utf8.index(after: colon)...]
            }
            if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
                query = rest[rest.utf8.index(after: mark)...]
                rest = rest[..<mark]
            }
            if rest.utf8.starts(with: "//".utf8) {
                rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
                let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
                authority = rest[..<end]
                rest = rest[end...]
            }
            path = rest
        }

        func text(path: String) -> String {
            var text = ""
            if let scheme { text += scheme + ":" }
            if let authority { text += "//" + authority }
            text += path
            if let query { text += "?" + query }
            return text
        }
    }

    /// Resolves a reference without a fragment against a base.
    static func resolve(_ reference: Substring, against base: String) -> String {
        var parts = Parts(reference)
        if parts.scheme != nil { return parts.text(path: withoutDots(parts.path)) }
        let around = Parts(base[...])
        parts.scheme = around.scheme
        if parts.authority != nil { return parts.text(path: withoutDots(parts.path)) }
        parts.authority = around.authority
        if parts.path.isEmpty {
            parts.query = parts.query ?? around.query
            return parts.text(path: String(around.path))
        }
        if parts.path.utf8.first == UInt8(ascii: "/") { return parts.text(path: withoutDots(parts.path)) }
        let end = around.path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = end.map { around.path[...$0] } ?? (around.authority == nil ? "" : "/")
        return parts.text(path: withoutDots(folder + parts.path))
    }

    private static func withoutDots(_ path: Substring) -> String {
        // By bytes: in terms of characters, a combining mark after a slash is one character with it.
        var kept: [Substring] = []
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, segment) in segments.map(Substring.init).enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if kept.count > (isAbsolute ? 1 : 0) { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return kept.joined(separator: "/")
    }

    /// Splits a reference into its document and its fragment; the fragment is nil if there is none.
    static func split(_ reference: String) -> (document: Substring, fragment: String?) {
        guard let mark = reference.utf8.firstIndex(of: UInt8(ascii: "#")) else { return (reference[...], nil) }
        return (reference[..<mark], unescaped(reference[reference.utf8.index(after: mark)...]))
    }

    /// Decodes percent-encoding such as `%20`.
    private static func unescaped(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
