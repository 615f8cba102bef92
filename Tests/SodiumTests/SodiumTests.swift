import Sodium
import TestSupport
import Testing

@Suite("Base 64 and SHA-256")
struct SodiumTests {
    @Test("Base 64 is that of RFC 4648")
    func encode() {
        let known = ["": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE="]
        for (text, encoded) in known {
            #expect(Base64.encode(Array(text.utf8)) == encoded)
            #expect(Base64.decode(encoded) == Array(text.utf8))
        }
        #expect(Base64.encode([0xFB, 0xFF], .standardUnpadded) == "+/8")
        #expect(Base64.encode([0xFB, 0xFF], .urlSafeUnpadded) == "-_8")
    }

    @Test("What was encoded is decoded, whatever its length and bytes")
    func roundTrip() {
        var generator = SeededGenerator(seed: 64)
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test(
        "What is no base 64 is refused, and nothing of it is read",
        arguments: [
            "Zg", "Zg=", "Zg===", "Z", "Zm9v ", " Zm9v", "Zm\n9v", "Zm9v-", "é", "Zh==", "====", "Zm9vZg==Zm9v",
        ])
    func refuse(_ text: String) { #expect(Base64.decode(text) == nil) }

    @Test("SHA-256 is that of FIPS 180, however the bytes are cut")
    func hash() {
        let known = [
            "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ]
        for (text, digits) in known {
            for cut in 0...text.utf8.count {
                var hash = SHA256()
                let bytes = Array(text.utf8)
                bytes[..<cut].withUnsafeBytes { hash.update($0) }
                bytes[cut...].withUnsafeBytes { hash.update($0) }
                #expect(hash.finish() == digits)
            }
        }
    }
}
