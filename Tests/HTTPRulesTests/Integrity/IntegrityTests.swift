import HTTPRules
import TestSupport
import Testing

@Suite struct IntegrityTests {
    // The hashes of "abc": FIPS 180-4's examples.
    private static let sha256 = "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    private static let sha384 = "sha384-ywB1P0WjXou1oD1pmsZQBycsMqsO3tFjGotgWkP/W+2AhgcroefMI1i67KE0yCWn"
    private static let sha512 =
        "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw=="

    private func hash(_ algorithm: IntegrityMetadata.Algorithm, _ text: String, pieces: Int = 1) -> [UInt8] {
        var hash = IntegrityHash(algorithm)
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { hash.update($0) }
        }
        return hash.finish()
    }

    @Test("Each algorithm produces the known hash", arguments: [sha256, sha384, sha512])
    func known(_ text: String) throws {
        let metadata = try IntegrityMetadata(text)
        #expect(metadata.matches(hash(metadata.algorithm, "abc")))
        #expect(metadata.matches(hash(metadata.algorithm, "abc", pieces: 2)))
        #expect(!metadata.matches(hash(metadata.algorithm, "abd")))
    }

    @Test("SHA-384 is right over several blocks and over no bytes")
    func sha384Vectors() throws {
        // FIPS 180-4's example of two blocks, and the hash of no bytes.
        let two =
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
            + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
        let hashes = [hash(.sha384, two, pieces: 7), hash(.sha384, "")].map { bytes in
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        #expect(
            hashes == [
                "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039",
                "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
            ])
    }

    @Test("Only the strongest algorithm counts, and one of its hashes must match")
    func strongest() throws {
        let wrong = "sha512-" + String(repeating: "A", count: 86) + "=="
        let metadata = try IntegrityMetadata("  \(Self.sha256) \(wrong)\t\(Self.sha512)?option  unknown-1234 ")
        #expect(metadata.algorithm == .sha512 && metadata.hashes.count == 2)
        #expect(metadata.matches(hash(.sha512, "abc")))
        #expect(!(try IntegrityMetadata("\(Self.sha256) \(wrong)")).matches(hash(.sha512, "abc")))
    }

    @Test("Algorithm names are read in any letter case, base 64 in both alphabets")
    func spelling() throws {
        let url = Self.sha256.dropFirst(6).split(separator: "+").joined(separator: "-")
            .split(separator: "/").joined(separator: "_")
        #expect(try IntegrityMetadata("SHA256\(url)") == IntegrityMetadata(Self.sha256))
    }

    @Test("Text without a known hash is an error")
    func nothingKnown() {
        for text in ["", "md5-abcd", "sha1-====", " ? - "] {
            #expect(throws: IntegrityMetadata.Fault.nothingKnown) { try IntegrityMetadata(text) }
        }
    }

    @Test("A malformed hash or one of wrong length is an error")
    func wrongHashes() {
        let longer = "sha384-\(Self.sha256.dropFirst(7))"
        let leftOver = "\(Self.sha256.dropLast(2))1="
        let texts = [
            "sha256", "sha256-", "sha256-abcd", longer, "\(Self.sha256.dropLast())", "\(Self.sha256)=", leftOver,
            "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIA,a0=",
        ]
        for text in texts { #expect(throws: IntegrityMetadata.Fault.hash, "\(text)") { try IntegrityMetadata(text) } }
    }

    @Test("More hashes than the maximum are an error")
    func tooMany() {
        let text = Array(repeating: Self.sha256, count: IntegrityMetadata.maximumHashes + 1).joined(separator: " ")
        #expect(throws: IntegrityMetadata.Fault.tooMany) { try IntegrityMetadata(text) }
    }

    @Test("Mutated texts never trap")
    func mutated() {
        var generator = SeededGenerator(seed: 512)
        for _ in 0..<2_000 {
            let bytes = generator.mutate(
                Array("\(Self.sha384) \(Self.sha512)".utf8), alphabet: Array("sha-=+/ 2?".utf8))
            _ = try? IntegrityMetadata(FieldText.decode(bytes))
        }
    }
}
