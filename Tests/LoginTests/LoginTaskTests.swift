import TaskKit
import TaskKitTesting
import Testing

@testable import LoginTasks

@Suite("The login tasks", .timeLimit(.minutes(20)))
struct LoginTaskTests {
    /// A bridge with the login plugin, the account `ada` with the password `pw`, and the objects behind the tasks.
    private struct Stage {
        let bridge: TestBridge
        let service: LoginService
        let tokens: SessionTokens
        let clocks: TestClocks
        let admin: TestSession

        func user(of session: TestSession) async throws -> JSON {
            try await session.call("login.status")["user"] ?? "absent"
        }

        /// Returns the users of the daemon's sessions.
        func users() async throws -> [String] {
            let sessions = try await admin.call("bridge.sessions")["sessions"]?.arrayValue ?? []
            return sessions.compactMap { $0["user"]?.stringValue }
        }
    }

    private func withStage(_ body: (Stage) async throws -> Void) async throws {
        let clocks = TestClocks()
        let service = LoginService(settings: .cheap, clocks: clocks.clocks)
        let tokens = SessionTokens()
        let bridge = try await TestBridge.start(.login(service, tokens), daemonUID: 1000)
        let stage = Stage(
            bridge: bridge, service: service, tokens: tokens, clocks: clocks, admin: await bridge.session(uid: 0))
        try await stage.admin.call("login.users.add", ["user": "ada", "password": "pw"])
        try await body(stage)
        await bridge.stop()
    }

    private func error(_ session: TestSession, _ task: String, _ options: JSON) async -> BridgeError? {
        do {
            try await session.call(task, options)
            return nil
        } catch {
            return error as? BridgeError
        }
    }

    @Test("The plugin's metrics count accounts, and logins by outcome")
    func figures() async throws {
        try await withStage { stage in
            let session = await stage.bridge.session()
            try await stage.admin.call("login.users.add", ["user": "bob", "password": "pw"])
            try await stage.admin.call("login.users.remove", ["user": "bob"])
            let grant = try await session.call("login", ["user": "ada", "password": "pw"])
            try await session.call("login", ["token": grant["token"] ?? nil])
            _ = await error(session, "login", ["token": "nonsense"])
            for _ in 0..<12 { _ = await error(session, "login", ["user": "ada", "password": "no"]) }
            let metrics = try await stage.admin.call("bridge.status")["metrics"]?.arrayValue ?? []
            func figure(_ name: JSON) -> Int64? { metrics.first { $0["name"] == name }?["value"]?.int64Value }
            #expect(figure("accounts") == 1)
            #expect(figure("logins") == 2)
            let (failed, locked) = (try #require(figure("failed_logins")), try #require(figure("locked_logins")))
            #expect(failed + locked == 13)
            #expect(locked > 0)
        }
    }

    @Test("The plugin passes its own check")
    func conformance() throws {
        try Plugin.login().check()
    }

    @Test("The default plugin logs in with the system's clocks and the default cost")
    func shipped() async throws {
        let bridge = try await TestBridge.start(.login(), daemonUID: 1000)
        let admin = await bridge.session(uid: 0)
        try await admin.call("login.users.add", ["user": "ada", "password": "pw"])
        let before = WallTime.now()
        let grant = try await admin.call("login", ["user": "ada", "password": "pw"])
        let expiresAt = try #require(grant["expiresAt"]?.int64Value)
        let lifetime = Duration.seconds(30 * 86_400)
        #expect(expiresAt >= (before + lifetime).milliseconds && expiresAt <= (.now() + lifetime).milliseconds)
        #expect(await error(admin, "login", ["user": "ada", "password": "no"])?.code == "login.failed")
        await bridge.stop()
    }

    @Test("A login by password sets the session's user and publishes the event")
    func password() async throws {
        try await withStage { stage in
            try await stage.admin.subscribe("login.changed")
            let page = await stage.bridge.session()
            let result = try await page.call("login", ["user": "ada", "password": "pw"])
            #expect(result["user"] == "ada")
            #expect(result["token"]?.stringValue?.count == 43)
            let expiresAt = (TestClocks.start + .seconds(30 * 86_400)).milliseconds
            #expect(result["expiresAt"]?.int64Value == expiresAt)
            #expect(result.objectValue?.count == 3)
            let event = await stage.admin.nextEvent()
            #expect(event.name == "login.changed")
            #expect(event.data == ["session": .number(JSONNumber(await page.number)), "user": "ada"])
            let status = try await page.call("login.status")
            #expect(status == ["user": "ada", "expiresAt": .number(JSONNumber(expiresAt))])
            #expect(try await stage.users() == ["ada"])
        }
    }

    @Test("A session that is not logged in has no user and no expiry")
    func notLoggedIn() async throws {
        try await withStage { stage in
            let status = try await stage.admin.call("login.status")
            #expect(status == ["user": nil])
            let loggedOut = try await stage.admin.call("logout")
            #expect(loggedOut == [:])
        }
    }

    @Test("A token logs another session in, and the result contains the same token")
    func token() async throws {
        try await withStage { stage in
            let first = await stage.bridge.session()
            let grant = try await first.call("login", ["user": "ada", "password": "pw"])
            let second = await stage.bridge.session()
            #expect(try await second.call("login", ["token": grant["token"] ?? nil]) == grant)
            #expect(try await stage.users() == ["ada", "ada"])
        }
    }

    @Test("Logout revokes the token, removes the user and publishes the event")
    func logout() async throws {
        try await withStage { stage in
            let page = await stage.bridge.session()
            let grant = try await page.call("login", ["user": "ada", "password": "pw"])
            try await stage.admin.subscribe("login.*")
            #expect(try await page.call("logout") == [:])
            let event = await stage.admin.nextEvent()
            #expect(event.data == ["session": .number(JSONNumber(await page.number)), "user": nil])
            #expect(try await stage.user(of: page) == .null)
            #expect(await error(page, "login", ["token": grant["token"] ?? nil])?.code == "login.failed")
            #expect(stage.tokens.count == 0)
        }
    }

    @Test("A login as another user replaces the first user")
    func replacing() async throws {
        try await withStage { stage in
            try await stage.admin.call("login.users.add", ["user": "bob", "password": "pb"])
            let page = await stage.bridge.session()
            let adas = try await page.call("login", ["user": "ada", "password": "pw"])
            let bobs = try await page.call("login", ["user": "bob", "password": "pb"])
            #expect(try await stage.users() == ["bob"])
            #expect(await error(page, "login", ["user": "ada", "password": "no"])?.code == "login.failed")
            #expect(try await stage.user(of: page) == "bob")
            try await page.call("logout")
            #expect(await error(page, "login", ["token": bobs["token"] ?? nil])?.code == "login.failed")
            #expect(await error(page, "login", ["token": adas["token"] ?? nil]) == nil)
        }
    }

    @Test("Invalid options are refused with their path, and the error does not contain them")
    func invalidOptions() async throws {
        try await withStage { stage in
            let long = String(repeating: "7", count: 1025)
            let cases: [(JSON, String)] = [
                ([:], "$"), (nil, "$"), ("hunter2", "$"), (["user": "ada"], "$.password"),
                (["password": "hunter2"], "$.user"), (["user": "ada", "password": 7_654_321], "$.password"),
                (["user": "ada", "password": "hunter2", "token": "hunter2"], "$"),
                (["user": "ada", "password": ""], "$.password"),
                (["user": "ada", "password": .string(long)], "$.password"),
                (["user": "ad\u{0}a", "password": "hunter2"], "$.user"),
                (["user": "", "password": "hunter2"], "$.user"), (["user": ["hunter2"], "password": "x"], "$.user"),
                (["token": 7_654_321], "$.token"),
            ]
            for (options, path) in cases {
                let error = await error(stage.admin, "login", options)
                #expect(error?.code == .optionsInvalid)
                #expect(error?.data?["path"]?.stringValue == path)
                let text = error?.json.text ?? ""
                #expect(!text.contains("hunter2") && !text.contains("7654321") && !text.contains("7777"), "\(text)")
            }
        }
    }

    @Test("A password may have the maximum length and any characters")
    func longPassword() async throws {
        try await withStage { stage in
            let password = JSON.string(String(repeating: "密", count: 341) + "\u{0}")
            try await stage.admin.call("login.users.add", ["user": "bob", "password": password])
            let result = try await stage.admin.call("login", ["user": "bob", "password": password])
            #expect(result["user"] == "bob")
        }
    }

    @Test("A lock-out returns the delay and does not affect another uid")
    func lockOut() async throws {
        try await withStage { stage in
            let page = await stage.bridge.session(uid: 1000)
            for _ in 0..<5 {
                #expect(await error(page, "login", ["user": "ada", "password": "no"])?.code == "login.failed")
            }
            let locked = await error(page, "login", ["user": "ada", "password": "pw"])
            #expect(locked?.code == "login.locked")
            #expect(locked?.retryAfter == .seconds(1))
            let user = try await stage.user(of: page)
            #expect(user == .null)
            #expect(await error(stage.admin, "login", ["user": "ada", "password": "pw"]) == nil)
            stage.clocks.advance(by: .seconds(1))
            #expect(await error(page, "login", ["user": "ada", "password": "pw"]) == nil)
        }
    }

    @Test("The log does not contain secrets")
    func log() async throws {
        try await withStage { stage in
            let grant = try await stage.admin.call("login", ["user": "ada", "password": "pw"])
            _ = await error(stage.admin, "login", ["user": "ada", "password": "hunter2"])
            _ = await error(stage.admin, "login", ["token": "hunter2"])
            let log = stage.bridge.logLines().joined(separator: "\n")
            #expect(!log.contains("hunter2") && !log.contains(grant["token"]?.stringValue ?? "absent"))
        }
    }

    @Test("A closed session is removed, and its token stays valid")
    func closing() async throws {
        try await withStage { stage in
            let page = await stage.bridge.session()
            let grant = try await page.call("login", ["user": "ada", "password": "pw"])
            #expect(stage.tokens.count == 1)
            await page.hangUp()
            #expect(stage.tokens.count == 0)
            #expect(await error(stage.admin, "login", ["token": grant["token"] ?? nil]) == nil)
        }
    }

    @Test("A login whose session closes meanwhile stores no session token")
    func leavingMeanwhile() async throws {
        try await withStage { stage in
            for _ in 0..<10 {
                let page = await stage.bridge.session()
                _ = await page.begin("login", ["user": "ada", "password": "pw"])
                await page.hangUp()
            }
            // This login's hash is computed after the others', and its token is issued after theirs.
            try await stage.admin.call("login", ["user": "ada", "password": "pw"])
            #expect(stage.tokens.count == 1)
            #expect(try await stage.users() == ["ada"])
        }
    }

    @Test("A cancelled login either completes or has no effect")
    func cancelling() async throws {
        try await withStage { stage in
            let page = await stage.bridge.session()
            let id = await page.begin("login", ["user": "ada", "password": "pw"])
            await page.cancel(id)
            do {
                _ = try await page.outcome(of: id)
                #expect(try await stage.user(of: page) == "ada")
            } catch let error as BridgeError {
                #expect(error.code == .callCancelled)
                try await stage.admin.call("login", ["user": "ada", "password": "pw"])
                #expect(try await stage.user(of: page) == .null)
            }
        }
    }

    /// Calls `login` as its plugin, without a session.
    private struct Sleepwalker: BridgeTask {
        static let name = "sleepwalk"
        static let summary = "Logs nobody in."
        static let optionsSchema: JSON? = true
        static let resultSchema: JSON? = true

        func run(_ options: JSON, _ call: Call) async throws -> JSON {
            try await call.plugin.call("login", options)
        }
    }

    @Test("A login without a session leaves no valid token, except one that existed before")
    func unusedToken() async throws {
        let service = LoginService(settings: .cheap, clocks: TestClocks().clocks)
        let bridge = try await TestBridge.start(
            .login(service, SessionTokens()), Plugin("sleeper", version: "1") { Sleepwalker() }, daemonUID: 1000)
        let admin = await bridge.session(uid: 0)
        try await admin.call("login.users.add", ["user": "ada", "password": "pw"])
        let error = await error(admin, "sleepwalk", ["user": "ada", "password": "pw"])
        #expect(error?.code == .sessionNotFound)
        // Runs after the revocation, on the same thread.
        #expect(try await service.database.perform { try $0.tokenCount() } == 0)
        let grant = try await admin.call("login", ["user": "ada", "password": "pw"])
        #expect(await self.error(admin, "sleepwalk", ["token": grant["token"] ?? nil])?.code == .sessionNotFound)
        #expect(try await service.database.perform { try $0.tokenCount() } == 1)
        await bridge.stop()
    }
}
