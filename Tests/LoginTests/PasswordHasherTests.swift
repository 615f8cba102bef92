import Testing

@testable import LoginTasks

@Suite("Password hashes")
struct PasswordHasherTests {
    private let hasher = PasswordHasher(cost: .minimum)

    @Test("A password matches its own hash, and other passwords do not")
    func verifying() throws {
        let hash = try hasher.hash(Secret("correct horse"))
        #expect(try hasher.verify(Secret("correct horse"), hash))
        #expect(try !hasher.verify(Secret("correct horsf"), hash))
        #expect(try !hasher.verify(Secret("correct hors"), hash))
    }

    @Test(
        "Passwords may contain NUL and any script", arguments: ["a\u{0}b", "密码", String(repeating: "p", count: 1024)])
    func anyBytes(password: String) throws {
        let hash = try hasher.hash(Secret(password))
        #expect(try hasher.verify(Secret(password), hash))
        #expect(try !hasher.verify(Secret(String(password.dropLast())), hash))
    }

    @Test("A password has a different argon2id hash each time")
    func salt() throws {
        let hashes = try (0..<4).map { _ in try hasher.hash(Secret("same")) }
        #expect(Set(hashes).count == 4)
        #expect(hashes.allSatisfy { $0.text.hasPrefix("$argon2id$v=19$m=8,t=1,p=1$") })
    }

    @Test("A hash of another cost needs a rehash, one of the same cost does not")
    func rehash() throws {
        let hash = try hasher.hash(Secret("secret"))
        #expect(!hasher.needsRehash(hash))
        let dearer = PasswordHasher(cost: PasswordCost(operations: 2, memoryBytes: 16384))
        #expect(dearer.needsRehash(hash))
        #expect(try dearer.verify(Secret("secret"), hash))
        #expect(!dearer.needsRehash(try dearer.hash(Secret("secret"))))
    }

    @Test(
        "The dummy hash has the cost of a new hash and matches no password",
        arguments: [PasswordCost.minimum, PasswordCost(operations: 3, memoryBytes: 65536)])
    func dummy(cost: PasswordCost) throws {
        let hasher = PasswordHasher(cost: cost)
        #expect(!hasher.needsRehash(hasher.dummy))
        #expect(try !hasher.verify(Secret("anything"), hasher.dummy))
        #expect(try hasher.hash(Secret("x")).text.count == hasher.dummy.text.count)
    }

    @Test(
        "A damaged hash is a failure, not a wrong password",
        arguments: ["", "plain", "$argon2id$v=19$m=8,t=1,p=1$", "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA"])
    func damaged(text: String) {
        #expect(throws: HashingFailure.damaged) { try hasher.verify(Secret("x"), PasswordHash(text: text)) }
    }

    @Test("Requesting too much memory is a failure, not a crash")
    func noMemory() {
        let greedy = PasswordHasher(cost: PasswordCost(operations: 1, memoryBytes: 1 << 42))
        #expect(throws: HashingFailure.noMemory) { try greedy.hash(Secret("x")) }
    }

    @Test("The descriptions of a secret do not contain it")
    func secret() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] { #expect(!text.contains("hunter2")) }
        #expect(secret.count == 7)
    }
}
