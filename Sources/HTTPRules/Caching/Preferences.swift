/// Lists of what a client would like, with weights: RFC 9110, section 12.4.2.
enum Preferences {
    /// The values of `Accept-Encoding` or `Accept-Language`, such that equivalent ones are equal: without case, spaces
    /// and order, weights without needless zeros.
    static func comparable(_ values: [String]) -> String {
        values.flatMap { FieldScanner.members(of: $0) }.map(comparable).sorted().joined(separator: ",")
    }

    private static func comparable(_ member: String) -> String {
        var scanner = FieldScanner(FieldText.lowercase(member))
        guard let name = scanner.token() else { return FieldText.lowercase(member) }
        var weight = 1_000
        if let parameter = scanner.parameter() {
            guard parameter.name == "q", let given = thousandths(parameter.value) else {
                return FieldText.lowercase(member)
            }
            weight = given
        }
        scanner.skipWhitespace()
        guard scanner.isAtEnd else { return FieldText.lowercase(member) }
        // Written as a weight is, so that nothing that cannot be read is equal to it.
        return weight == 1_000 ? name : "\(name);q=0.\(String(weight + 1_000).dropFirst())"
    }

    /// A weight, `0`, `1` or with up to three digits behind the point, in thousandths.
    private static func thousandths(_ text: String) -> Int? {
        let digits = Array(text.utf8)
        guard let first = digits.first, first == 0x30 || first == 0x31, digits.count <= 5 else { return nil }
        guard digits.count > 1 else { return Int(first - 0x30) * 1_000 }
        guard digits[1] == UInt8(ascii: "."), digits[2...].allSatisfy(FieldScanner.isDigit) else { return nil }
        let fraction = (digits[2...] + [0x30, 0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        let weight = Int(first - 0x30) * 1_000 + fraction
        return weight <= 1_000 ? weight : nil
    }
}
