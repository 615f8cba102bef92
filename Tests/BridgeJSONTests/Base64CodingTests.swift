import BridgeJSON
import TestSupport
import Testing

@Suite("Base 64")
struct Base64CodingTests {
    private func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    private func decode(_ text: String) -> [UInt8]? { Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0) } }

    @Test(
        "The vectors of RFC 4648, section 10, are encoded and decoded",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(plain: String, text: String) {
        #expect(encode(Array(plain.utf8)) == text)
        #expect(decode(text) == Array(plain.utf8))
    }

    @Test("Any bytes are read back, and their text has the computed length")
    func roundTrip() {
        var random = SeededGenerator(seed: 64)
        for count in 0..<600 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let text = encode(bytes)
            #expect(decode(text) == bytes)
            #expect(text.utf8.count == Base64Coding.textBytes(of: count))
        }
    }

    @Test(
        "Malformed text is refused, and so is a second text for the same bytes",
        arguments: [
            "Z", "Zg", "Zg=", "Zm8", "Z===", "====", "=", "Zg==Zg==", "Zm9vYg=", "Zm 8=", "Zm8=\n", "Zh==", "Zm9=",
            "Zm-_", "Zm9\u{0}", "Zmé=",
        ])
    func refused(text: String) { #expect(decode(text) == nil) }

    @Test("A byte that is not a digit is refused at every position of a text")
    func everyPlace() {
        let digits = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let others = (UInt8.min ... .max).filter { !digits.contains($0) }
        // All bits are ones, so that the bits that padding would discard are not zero.
        let text = Array(encode(Array(repeating: 255, count: 30)).utf8)
        for place in text.indices {
            let taken = others.filter { byte in
                var changed = text
                changed[place] = byte
                return changed.withUnsafeBytes { Base64Coding.decode($0) } != nil
            }
            #expect(taken == [], "at \(place)")
        }
    }

    @Test("A mutated text gives other bytes or none: no two texts have the same bytes")
    func mutated() {
        var random = SeededGenerator(seed: 4_648)
        for _ in 0..<3_000 {
            let bytes = (0..<Int.random(in: 0...70, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            var text = Array(encode(bytes).utf8)
            let original = text
            text = random.mutate(text)
            guard text != original, let other = text.withUnsafeBytes({ Base64Coding.decode($0) }) else { continue }
            #expect(other != bytes)
            #expect(Array(encode(other).utf8) == text)
        }
    }
}
