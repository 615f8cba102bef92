import Sodium
import TestSupport
import Testing

@Suite("Hashes")
struct SodiumTests {
    @Test("SHA-256 matches FIPS 180 for any division of the bytes")
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

    @Test("BLAKE2b matches RFC 7693 with 32 bytes for any division of the bytes")
    func blake2b() {
        let known = [
            "": "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",
            "abc": "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319",
        ]
        for (text, digits) in known {
            let bytes = Array(text.utf8)
            for cut in 0...bytes.count {
                let hash = BLAKE2b()
                bytes[..<cut].withUnsafeBytes { hash.update($0) }
                bytes[cut...].withUnsafeBytes { hash.update($0) }
                let sum = hash.finish()
                #expect(sum == BLAKE2b.hash(bytes))
                #expect(sum.map { String(Int($0) + 256, radix: 16).suffix(2) }.joined() == digits)
            }
        }
    }
}
