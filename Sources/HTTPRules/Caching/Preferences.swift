/// Lists of a client's preferences with weights: RFC 9110, section 12.4.2.
enum Preferences {
    /// Returns the values of `Accept-Encoding` or `Accept-Language` in a form in which equivalent values are equal:
    /// without case, spaces and order, and with weights without unnecessary zeros.
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
        // Written as a weight, so that no invalid member is equal to it.
        return weight == 1_000 ? name : "\(name);q=0.\(String(weight + 1_000).dropFirst())"
    }

    /// Parses a weight, `0`, `1` or with up to three decimal places, in thousandths.
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
