import Synchronization
import TaskKit
import Testing

@testable import LoginTasks

@Suite("The login service", .timeLimit(.minutes(20)))
struct LoginServiceTests {
    private let ada = UserName("ada")!  // `!`: a valid name
    private let bob = UserName("bob")!  // `!`: the same

    @Test("The right password returns a token, and the token logs in again")
    func passwordThenToken() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "correct horse")
        let grant = try await test.logIn(ada, "correct horse")
        #expect(grant.user == ada)
        #expect(grant.expiresAt == TestClocks.start + .seconds(30 * 86_400))
        let again = try await test.service.logIn(Secret(grant.token))
        #expect(again.user == ada && again.token == grant.token && again.tokenHash == grant.tokenHash)
    }

    @Test("Using a token does not extend its expiry")
    func fixedExpiry() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        let grant = try await test.logIn(ada, "pw")
        test.clocks.advance(by: .seconds(30 * 86_400) - .milliseconds(1))
        #expect(try await test.service.logIn(Secret(grant.token)).expiresAt == grant.expiresAt)
        test.clocks.advance(by: .milliseconds(1))
        let error = await #expect(throws: BridgeError.self) { try await test.service.logIn(Secret(grant.token)) }
        #expect(error?.code == "login.failed")
    }

    @Test("A wrong password and an unknown user get the same error")
    func sameAnswer() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        let wrong = await test.refusal(ada, "pw2")
        let unknown = await test.refusal(bob, "pw")
        #expect(wrong?.code == "login.failed")
        #expect(wrong == unknown)
    }

    @Test("Errors of a login do not contain the attempted password or token")
    func nothingShown() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        let refused = await test.refusal(ada, "hunter2")
        let token = await #expect(throws: BridgeError.self) { try await test.service.logIn(Secret("hunter2")) }
        for error in [refused, token] { #expect(error?.json.text.contains("hunter2") == false) }
    }

    @Test("After five failures the right password is refused with a delay, and accepted after it")
    func lockOut() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        for _ in 0..<5 { #expect(await test.refusal(ada, "no")?.code == "login.failed") }
        let locked = await test.refusal(ada, "pw")
        #expect(locked?.code == "login.locked")
        #expect(locked?.retryAfter == .seconds(1))
        #expect(locked?.isTransient == true)
        #expect(await test.refusal(ada, "pw", uid: 1001) == nil)
        test.clocks.advance(by: .seconds(1))
        #expect(await test.refusal(ada, "pw") == nil)
        #expect(await test.refusal(ada, "no")?.code == "login.failed")
    }

    @Test("Unknown users are locked like known ones")
    func unknownUserLocked() async throws {
        let test = try await ServiceUnderTest()
        for _ in 0..<5 { #expect(await test.refusal(bob, "no")?.code == "login.failed") }
        #expect(await test.refusal(bob, "no")?.code == "login.locked")
    }

    @Test("Concurrent attempts are limited like sequential ones")
    func parallelGuesses() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        let codes = await withTaskGroup(of: ErrorCode?.self) { group in
            for _ in 0..<40 { group.addTask { await test.refusal(self.ada, "no")?.code } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.filter { $0 == "login.failed" }.count == 5)
        #expect(codes.filter { $0 == "login.locked" }.count == 35)
    }

    @Test("A uid that finds no free hashing slot gets busy, which does not count as a failure")
    func slots() async throws {
        var settings = LoginSettings.cheap
        settings.lockOut.freeFailures = 1000
        let test = try await ServiceUnderTest(settings: settings)
        let errors = await withTaskGroup(of: BridgeError?.self) { group in
            for _ in 0..<400 { group.addTask { await test.refusal(self.bob, "no") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let busy = errors.filter { $0?.code == .busy }
        #expect(errors.allSatisfy { $0?.code == .busy || $0?.code == "login.failed" })
        #expect(busy.allSatisfy { $0?.retryAfter != nil && $0?.isTransient == true })
        #expect(busy.allSatisfy { $0?.data == ["started": false] })
        #expect(await test.refusal(bob, "no")?.code == "login.failed")
    }

    @Test("A login beyond the limit of attempts is refused as not started")
    func attempts() async throws {
        var settings = LoginSettings.cheap
        settings.attempts.session = 1
        let test = try await ServiceUnderTest(settings: settings)
        try test.service.admit(session: 7, uid: 1000)
        let error = #expect(throws: BridgeError.self) { try test.service.admit(session: 7, uid: 1000) }
        #expect(error?.code == .busy && error?.retryAfter == .seconds(60))
        #expect(
            error?.data == ["quota": "login_attempts", "limit": 1, "of": "session 7", "started": false])
    }

    @Test("A password hashed at another cost is rehashed at the next login")
    func rehash() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        let before = try await test.service.database.perform { try $0.account(self.ada)?.passwordHash }
        try await test.service.database.close()
        var dearer = LoginSettings.cheap
        dearer.cost = PasswordCost(operations: 2, memoryBytes: 16_384)
        let later = try await ServiceUnderTest(settings: dearer, directory: test.directory)
        #expect(await later.refusal(ada, "no")?.code == "login.failed")
        let unchanged = try await later.service.database.perform { try $0.account(self.ada)?.passwordHash }
        #expect(unchanged == before)
        let grant = try await later.logIn(ada, "pw")
        let after = try await later.service.database.perform { try $0.account(self.ada)?.passwordHash }
        #expect(after?.text.contains("m=16,t=2") == true)
        #expect(try await later.service.logIn(Secret(grant.token)).user == ada)
        #expect(await later.refusal(ada, "pw") == nil)
    }

    @Test("A name can be added only once")
    func addTwice() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        let error = await #expect(throws: BridgeError.self) { try await test.add(ada, "other") }
        #expect(error?.code == "user.exists")
        #expect(await test.refusal(ada, "pw") == nil)
    }

    @Test("A new password invalidates the old one, the tokens and the lock")
    func newPassword() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        let grant = try await test.logIn(ada, "pw")
        for _ in 0..<5 { _ = await test.refusal(ada, "no") }
        try await test.service.setPassword(ada, Secret("new"), uid: 0)
        #expect(await test.refusal(ada, "pw")?.code == "login.failed")
        #expect(await test.refusal(ada, "new") == nil)
        await #expect(throws: BridgeError.self) { try await test.service.logIn(Secret(grant.token)) }
    }

    @Test("A removed user is unknown, and its tokens are invalid")
    func removing() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        let grant = try await test.logIn(ada, "pw")
        try await test.service.remove(ada)
        #expect(await test.refusal(ada, "pw")?.code == "login.failed")
        await #expect(throws: BridgeError.self) { try await test.service.logIn(Secret(grant.token)) }
        #expect(try await test.service.list(after: nil, limit: 1).isEmpty)
    }

    @Test("A password that changes during its check does not log in")
    func changedMeanwhile() async throws {
        let directory = try TemporaryDirectory()
        let store = try AccountStore(path: directory.file("accounts.sqlite"), now: TestClocks.start)
        let isArmed = Mutex(false)
        // The clock is read after the check and before the token is issued.
        let wall: @Sendable () -> WallTime = {
            if isArmed.withLock({ $0 }) {
                #expect(throws: Never.self) {
                    try store.setPassword(ada, PasswordHash(text: "changed"), now: TestClocks.start)
                }
            }
            return TestClocks.start
        }
        let service = LoginService(settings: .cheap, clocks: LoginClocks(wall: wall))
        try await service.open(directory: directory.path)
        try await service.add(ada, Secret("pw"), uid: 0)
        isArmed.withLock { $0 = true }
        let error = await #expect(throws: BridgeError.self) { try await service.logIn(ada, Secret("pw"), uid: 0) }
        #expect(error?.code == "login.failed")
    }

    @Test("A user that does not exist cannot be changed or removed")
    func absent() async throws {
        let test = try await ServiceUnderTest()
        let changed = await #expect(throws: BridgeError.self) {
            try await test.service.setPassword(ada, Secret("x"), uid: 0)
        }
        let removed = await #expect(throws: BridgeError.self) { try await test.service.remove(ada) }
        #expect(changed?.code == "user.not_found" && removed?.code == "user.not_found")
    }

    @Test("If the database is closed, logins fail with storage.failed and do not count as failures")
    func closed() async throws {
        let test = try await ServiceUnderTest()
        try await test.add(ada, "pw")
        try await test.service.database.close()
        for _ in 0..<20 { #expect(await test.refusal(ada, "pw")?.code == "storage.failed") }
        try await test.service.open(directory: test.directory.path)
        #expect(await test.refusal(ada, "pw") == nil)
    }

    @Test("The configuration sets the cost and the lifetime of tokens, and invalid lifetimes are refused")
    func configuration() async throws {
        var settings = LoginSettings()
        try settings.apply(LoginConfiguration())
        #expect(settings.cost == .interactive && settings.tokenLifetime == .seconds(30 * 86_400))
        try settings.apply(LoginConfiguration(passwordCost: .moderate, tokenDays: 1))
        #expect(settings.cost == .moderate && settings.tokenLifetime == .seconds(86_400))
        for days in [0, -1, 3651, Int.max] {
            #expect(throws: JSONMismatch.self) { try settings.apply(LoginConfiguration(tokenDays: days)) }
        }
        #expect(settings.tokenLifetime == .seconds(86_400))
    }
}
