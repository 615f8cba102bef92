import DurableDatabase
import GRDB
import Glibc
import Testing

@testable import LoginTasks

extension AccountStore {
    /// Returns the number that a statement selects.
    func number(_ sql: String) throws(DatabaseFailure) -> Int? {
        try read { try Int.fetchOne($0, sql: sql) }
    }

    /// Returns the number of tokens, including expired ones.
    func tokenCount() throws(DatabaseFailure) -> Int? {
        try number("SELECT COUNT(*) FROM token")
    }
}

@Suite("The account store")
struct AccountStoreTests {
    private let directory: TemporaryDirectory
    private let store: AccountStore
    private let ada = UserName("ada")!  // `!`: a valid name
    private let bob = UserName("bob")!  // `!`: the same
    private let start = WallTime(milliseconds: 1_800_000_000_000)

    private var path: String { directory.file("accounts.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
        store = try AccountStore(path: directory.file("accounts.sqlite"), now: start)
    }

    /// Closes the store and opens it again.
    private func reopened(now: WallTime? = nil) throws -> AccountStore {
        try store.close()
        return try AccountStore(path: path, now: now ?? start)
    }

    private func issue(_ token: Token, to name: UserName, lifetime: Duration = .seconds(60)) throws -> Bool {
        guard let account = try store.account(name) else { return false }
        return try store.issue(token.hash, to: account, rehashed: nil, now: start, expiresAt: start + lifetime)
    }

    @Test("An added account exists after the file is reopened")
    func adding() throws {
        #expect(try store.add(ada, PasswordHash(text: "h1"), now: start))
        let again = try reopened()
        #expect(try again.account(ada)?.passwordHash == PasswordHash(text: "h1"))
        #expect(try again.account(bob) == nil)
    }

    @Test("A name can be added only once, and a second attempt changes nothing")
    func addingTwice() throws {
        #expect(try store.add(ada, PasswordHash(text: "h1"), now: start))
        #expect(try !store.add(ada, PasswordHash(text: "h2"), now: start))
        #expect(try store.account(ada)?.passwordHash == PasswordHash(text: "h1"))
    }

    @Test("Names that differ in their bytes are different accounts")
    func bytes() throws {
        let names = ["caf\u{E9}", "cafe\u{301}", "CAFE", "cafe"].compactMap { UserName($0) }
        for name in names { #expect(try store.add(name, PasswordHash(text: "h"), now: start)) }
        #expect(try store.list().count == 4)
        #expect(try store.remove(names[0]))
        #expect(try store.account(names[1]) != nil)
    }

    @Test("The list is sorted and contains no secrets")
    func listing() throws {
        _ = try store.add(bob, PasswordHash(text: "h1"), now: start)
        _ = try store.add(ada, PasswordHash(text: "h2"), now: start + .seconds(1))
        _ = try store.setPassword(bob, PasswordHash(text: "h3"), now: start + .seconds(2))
        let created = start.milliseconds
        #expect(
            try store.list() == [
                AccountSummary(user: "ada", createdAt: created + 1000, passwordChangedAt: created + 1000),
                AccountSummary(user: "bob", createdAt: created, passwordChangedAt: created + 2000),
            ])
    }

    @Test("A token identifies its account until it expires")
    func expiry() throws {
        _ = try store.add(ada, PasswordHash(text: "h"), now: start)
        let token = Token()
        #expect(try issue(token, to: ada, lifetime: .seconds(60)))
        #expect(
            try store.owner(of: token.hash, now: start + .milliseconds(59_999))
                == TokenOwner(user: ada, expiresAt: start + .seconds(60)))
        #expect(try store.owner(of: token.hash, now: start + .seconds(60)) == nil)
        #expect(try store.owner(of: Token().hash, now: start) == nil)
    }

    @Test("A revoked token is unknown, and other tokens are not touched")
    func revoking() throws {
        _ = try store.add(ada, PasswordHash(text: "h"), now: start)
        let (first, second) = (Token(), Token())
        _ = try issue(first, to: ada)
        _ = try issue(second, to: ada)
        try store.revoke(first.hash)
        try store.revoke(first.hash)
        #expect(try store.owner(of: first.hash, now: start) == nil)
        #expect(try store.owner(of: second.hash, now: start)?.user == ada)
    }

    @Test("A new password revokes the account's tokens, and only those")
    func newPassword() throws {
        _ = try store.add(ada, PasswordHash(text: "h1"), now: start)
        _ = try store.add(bob, PasswordHash(text: "h1"), now: start)
        let (adas, bobs) = (Token(), Token())
        _ = try issue(adas, to: ada)
        _ = try issue(bobs, to: bob)
        #expect(try store.setPassword(ada, PasswordHash(text: "h2"), now: start))
        #expect(try store.owner(of: adas.hash, now: start) == nil)
        #expect(try store.owner(of: bobs.hash, now: start)?.user == bob)
        #expect(try store.account(ada)?.passwordHash == PasswordHash(text: "h2"))
    }

    @Test("Removing an account removes its tokens and frees its name")
    func removing() throws {
        _ = try store.add(ada, PasswordHash(text: "h1"), now: start)
        let token = Token()
        _ = try issue(token, to: ada)
        #expect(try store.remove(ada))
        #expect(try store.owner(of: token.hash, now: start) == nil)
        #expect(try store.add(ada, PasswordHash(text: "h2"), now: start))
        #expect(try store.owner(of: token.hash, now: start) == nil)
    }

    @Test("An account that does not exist cannot be changed or removed")
    func absent() throws {
        #expect(try !store.setPassword(ada, PasswordHash(text: "h"), now: start))
        #expect(try !store.remove(ada))
        #expect(try store.list().isEmpty)
    }

    @Test("A password that changes between check and login yields no token")
    func race() throws {
        _ = try store.add(ada, PasswordHash(text: "h1"), now: start)
        let checked = try #require(try store.account(ada))
        _ = try store.setPassword(ada, PasswordHash(text: "h2"), now: start)
        let token = Token()
        #expect(
            try !store.issue(token.hash, to: checked, rehashed: nil, now: start, expiresAt: start + .seconds(60)))
        #expect(try store.owner(of: token.hash, now: start) == nil)
        _ = try store.remove(ada)
        _ = try store.add(ada, PasswordHash(text: "h3"), now: start)
        #expect(
            try !store.issue(token.hash, to: checked, rehashed: nil, now: start, expiresAt: start + .seconds(60)))
    }

    @Test("A hash with the current cost replaces the old one and keeps the tokens")
    func rehashing() throws {
        _ = try store.add(ada, PasswordHash(text: "old"), now: start)
        let (first, second) = (Token(), Token())
        _ = try issue(first, to: ada)
        let account = try #require(try store.account(ada))
        #expect(
            try store.issue(
                second.hash, to: account, rehashed: PasswordHash(text: "new"), now: start,
                expiresAt: start + .seconds(60)))
        #expect(try store.account(ada)?.passwordHash == PasswordHash(text: "new"))
        #expect(try store.owner(of: first.hash, now: start)?.user == ada)
        #expect(try store.list().first?.passwordChangedAt == start.milliseconds)
    }

    @Test("Above the limit, the oldest tokens of the account are removed")
    func tokenBound() throws {
        let store = try AccountStore(path: directory.file("few.sqlite"), now: start, maximumTokens: 3)
        _ = try store.add(ada, PasswordHash(text: "h"), now: start)
        _ = try store.add(bob, PasswordHash(text: "h"), now: start)
        let tokens = (0..<8).map { _ in Token() }
        for (number, token) in tokens.enumerated() {
            let account = try #require(try store.account(number == 0 ? bob : ada))
            _ = try store.issue(
                token.hash, to: account, rehashed: nil, now: start, expiresAt: start + .seconds(60))
        }
        let owners = try tokens.map { try store.owner(of: $0.hash, now: start)?.user }
        #expect(owners == [bob, nil, nil, nil, nil, ada, ada, ada])
    }

    @Test("An account has at most 1,000 tokens")
    func usualTokenBound() throws {
        let store = try AccountStore(path: directory.file("many.sqlite"), now: start)
        _ = try store.add(ada, PasswordHash(text: "h"), now: start)
        let account = try #require(try store.account(ada))
        let tokens = (0..<1002).map { _ in Token() }
        for token in tokens {
            _ = try store.issue(
                token.hash, to: account, rehashed: nil, now: start, expiresAt: start + .seconds(60))
        }
        let isKnown = try tokens.map { try store.owner(of: $0.hash, now: start) != nil }
        #expect(isKnown == [false, false] + repeatElement(true, count: 1000))
    }

    @Test("Expired tokens are removed from the file")
    func expiredTokensGo() throws {
        _ = try store.add(ada, PasswordHash(text: "h"), now: start)
        _ = try issue(Token(), to: ada, lifetime: .seconds(1))
        _ = try issue(Token(), to: ada, lifetime: .seconds(100))
        let again = try reopened(now: start + .seconds(2))
        #expect(try again.tokenCount() == 1)
    }

    @Test("The files contain neither a token nor a password")
    func nothingInTheClear() throws {
        let token = Token()
        let hasher = PasswordHasher(cost: .minimum)
        _ = try store.add(ada, try hasher.hash(Secret("correct horse battery")), now: start)
        _ = try issue(token, to: ada)
        for name in directory.names {
            let text = try String(decoding: bytes(of: directory.file(name)), as: UTF8.self)
            #expect(!text.contains(token.text) && !text.contains("correct horse"), "\(name)")
        }
    }

    private func bytes(of file: String) throws -> [UInt8] {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
        try #require(!all.isEmpty || file.hasSuffix("-shm") || file.hasSuffix("-wal"))
        return all
    }

    @Test("The files have mode 0600, even if they had another mode before")
    func modes() throws {
        _ = try store.add(ada, PasswordHash(text: "h"), now: start)
        for name in directory.names { #expect(directory.mode(name) == 0o600, "\(name)") }
        chmod(path, 0o644)
        let again = try reopened()
        _ = try again.add(bob, PasswordHash(text: "h"), now: start)
        for name in directory.names { #expect(directory.mode(name) == 0o600, "\(name)") }
    }

    @Test("A full database is reported, and earlier writes are intact")
    func full() throws {
        _ = try store.add(ada, PasswordHash(text: "h"), now: start)
        let pages = try #require(try store.number("PRAGMA page_count"))
        #expect(try store.number("PRAGMA max_page_count = \(pages)") == pages)
        let large = PasswordHash(text: String(repeating: "x", count: 100_000))
        let failure = #expect(throws: DatabaseFailure.self) { try store.add(bob, large, now: start) }
        #expect(failure?.isFull == true)
        #expect(failure?.description.contains("xxx") == false)
        #expect(try store.list().map(\.user) == ["ada"])
    }

    @Test("A file from a newer version is refused with an error")
    func newerVersion() throws {
        try store.close()
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('of the future')") }
        try queue.close()
        let failure = #expect(throws: DatabaseFailure.self) { try AccountStore(path: path, now: start) }
        #expect(failure?.description.contains("newer version") == true)
    }

    @Test("A file that is not a database is refused with an error and left unchanged")
    func noDatabase() throws {
        let file = directory.file("other")
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        _ = "This is not a database, but it is long enough to be taken for one.".withCString {
            write(descriptor, $0, 66)
        }
        close(descriptor)
        let failure = #expect(throws: DatabaseFailure.self) { try AccountStore(path: file, now: start) }
        #expect(failure?.description.contains(file) == true)
        #expect(try bytes(of: file).count == 66)
    }

    @Test("A missing directory is refused with an error")
    func noDirectory() {
        let failure = #expect(throws: DatabaseFailure.self) {
            try AccountStore(path: directory.file("absent/accounts.sqlite"), now: start)
        }
        #expect(failure?.description.contains("No such file or directory") == true)
    }

    @Test("After the close, every operation fails with an error")
    func closed() throws {
        try store.close()
        #expect(throws: DatabaseFailure.self) { try store.list() }
    }
}
