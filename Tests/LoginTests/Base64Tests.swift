import Testing

@testable import LoginTasks

@Suite("Base 64 of secrets")
struct Base64Tests {
    @Test("follows RFC 4648, without padding")
    func encode() {
        let known = ["": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE"]
        for (text, encoded) in known { #expect(Base64.encode(Array(text.utf8), .standardUnpadded) == encoded) }
        #expect(Base64.encode([0xFB, 0xFF], .standardUnpadded) == "+/8")
        #expect(Base64.encode([0xFB, 0xFF], .urlSafeUnpadded) == "-_8")
    }
}
