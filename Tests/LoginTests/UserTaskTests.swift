import TaskKit
import TaskKitTesting
import Testing

@testable import LoginTasks

@Suite("The account tasks", .timeLimit(.minutes(20)))
struct UserTaskTests {
    private let clocks = TestClocks()
    private let tokens = SessionTokens()

    private func start() async throws -> TestBridge {
        try await TestBridge.start(
            .login(LoginService(settings: .cheap, clocks: clocks.clocks), tokens), daemonUID: 1000)
    }

    private func code(_ session: TestSession, _ task: String, _ options: JSON) async -> ErrorCode? {
        do {
            try await session.call(task, options)
            return nil
        } catch {
            return (error as? BridgeError)?.code
        }
    }

    private func users(_ session: TestSession) async throws -> [String] {
        let sessions = try await session.call("bridge.sessions")["sessions"]?.arrayValue ?? []
        return sessions.compactMap { $0["user"]?.stringValue }
    }

    @Test("Accounts can be added, listed and removed")
    func lifeOfAnAccount() async throws {
        let bridge = try await start()
        let admin = await bridge.session(uid: 0)
        #expect(try await admin.call("login.users.list") == ["users": []])
        #expect(try await admin.call("login.users.add", ["user": "bob", "password": "pb"]) == [:])
        #expect(try await admin.call("login.users.add", ["user": "ada", "password": "pa"]) == [:])
        #expect(await code(admin, "login.users.add", ["user": "ada", "password": "other"]) == "user.exists")
        let now = JSON.number(JSONNumber(TestClocks.start.milliseconds))
        #expect(
            try await admin.call("login.users.list") == [
                "users": [
                    ["user": "ada", "createdAt": now, "passwordChangedAt": now],
                    ["user": "bob", "createdAt": now, "passwordChangedAt": now],
                ]
            ])
        #expect(try await admin.call("login.users.remove", ["user": "ada"]) == [:])
        #expect(await code(admin, "login.users.remove", ["user": "ada"]) == "user.not_found")
        #expect(await code(admin, "login.users.passwd", ["user": "ada", "password": "x"]) == "user.not_found")
        await bridge.stop()
    }

    @Test("Accounts are listed in pages, in the order of their names")
    func listPages() async throws {
        let bridge = try await start()
        let admin = await bridge.session(uid: 0)
        let names = (100..<400).map { "user\($0)" }
        for name in names.shuffled() {
            try await admin.call("login.users.add", ["user": .string(name), "password": "p"])
        }
        func page(_ options: JSON) async throws -> (users: [String], cursor: JSON?) {
            let page = try await admin.call("login.users.list", options)
            return ((page["users"]?.arrayValue ?? []).compactMap { $0["user"]?.stringValue }, page["cursor"])
        }
        var (listed, cursor) = try await page([:])
        var sizes = [listed.count]
        // The cursor is a position: the account there may be removed meanwhile.
        try await admin.call("login.users.remove", ["user": .string(names[127])])
        while let after = cursor {
            let next = try await page(["cursor": after])
            listed += next.users
            cursor = next.cursor
            sizes.append(next.users.count)
        }
        #expect(listed == names && sizes == [128, 128, 44])
        let few = try await page(["limit": 2])
        #expect(few.users == Array(names.prefix(2)) && few.cursor != nil)
        #expect(try await page(["limit": 1, "cursor": "user398"]).cursor == nil)
        for options in [["limit": 0], ["limit": 129], ["cursor": ""], ["cursor": 5]] as [JSON] {
            #expect(await code(admin, "login.users.list", options) == .optionsInvalid)
        }
        await bridge.stop()
    }

    @Test("Accounts and tokens survive a restart of the daemon")
    func restart() async throws {
        let directory = try TemporaryDirectory()
        let service = LoginService(settings: .cheap, clocks: clocks.clocks)
        let bridge = try await TestBridge.start(
            .login(service, tokens), stateDirectory: directory.path, daemonUID: 1000)
        let admin = await bridge.session(uid: 0)
        try await admin.call("login.users.add", ["user": "ada", "password": "pa"])
        let grant = try await admin.call("login", ["user": "ada", "password": "pa"])
        await bridge.stop()
        let next = try await TestBridge.start(
            .login(LoginService(settings: .cheap, clocks: clocks.clocks), SessionTokens()),
            stateDirectory: directory.path, daemonUID: 1000)
        let page = await next.session(uid: 1000)
        #expect(try await page.call("login", ["token": grant["token"] ?? nil]) == grant)
        await next.stop()
    }

    @Test("A new password logs out all sessions of the user, on every page of the daemon's list")
    func pages() async throws {
        let bridge = try await start()
        let admin = await bridge.session(uid: 0)
        try await admin.call("login.users.add", ["user": "ada", "password": "pa"])
        var numbers: [JSON] = []
        for index in 0..<300 {
            let session = await bridge.session()
            // On the first page, the second and the last.
            guard [0, 150, 299].contains(index) else { continue }
            try await session.call("login", ["user": "ada", "password": "pa"])
            numbers.append(.number(JSONNumber(await session.number)))
        }
        let first = try await admin.call("bridge.sessions")
        #expect(first["cursor"]?.stringValue != nil && first["sessions"]?.arrayValue?.count ?? 300 < 150)
        try await admin.subscribe("login.changed")
        try await admin.call("login.users.passwd", ["user": "ada", "password": "new"])
        for number in numbers {
            let event = await admin.nextEvent()
            #expect(event.data == ["session": number, "user": nil])
        }
        await bridge.stop()
    }

    @Test("A new password logs out the user's sessions and revokes the tokens; other users are not affected")
    func passwd() async throws {
        let bridge = try await start()
        let admin = await bridge.session(uid: 0)
        try await admin.call("login.users.add", ["user": "ada", "password": "pa"])
        try await admin.call("login.users.add", ["user": "bob", "password": "pb"])
        let (first, second, other) = (await bridge.session(), await bridge.session(), await bridge.session())
        let grant = try await first.call("login", ["user": "ada", "password": "pa"])
        try await second.call("login", ["token": grant["token"] ?? nil])
        try await other.call("login", ["user": "bob", "password": "pb"])
        try await admin.subscribe("login.changed")
        try await admin.call("login.users.passwd", ["user": "ada", "password": "new"])
        #expect(try await users(admin) == ["bob"])
        for session in [first, second] {
            let event = await admin.nextEvent()
            #expect(event.data == ["session": .number(JSONNumber(await session.number)), "user": nil])
        }
        #expect(await code(first, "login", ["token": grant["token"] ?? nil]) == "login.failed")
        #expect(await code(first, "login", ["user": "ada", "password": "pa"]) == "login.failed")
        #expect(await code(first, "login", ["user": "ada", "password": "new"]) == nil)
        await bridge.stop()
    }

    @Test("A removed user's sessions are logged out, even with logins in progress")
    func removing() async throws {
        let bridge = try await start()
        let admin = await bridge.session(uid: 0)
        try await admin.call("login.users.add", ["user": "ada", "password": "pa"])
        try await withThrowingTaskGroup { group in
            for number in 0..<30 {
                group.addTask {
                    let page = await bridge.session()
                    let code = await self.code(page, "login", ["user": "ada", "password": "pa"])
                    #expect([nil, "login.failed", "login.locked"].contains(code))
                }
                if number == 15 {
                    group.addTask { try await admin.call("login.users.remove", ["user": "ada"]) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await users(admin).isEmpty)
        #expect(tokens.count == 0)
        await bridge.stop()
    }

    @Test("Only root and the daemon's user can manage accounts")
    func strangers() async throws {
        let bridge = try await start()
        let stranger = await bridge.session(uid: 4711)
        let options: JSON = ["user": "ada", "password": "pa"]
        for task in ["add", "passwd", "remove", "list"] {
            #expect(await code(stranger, "login.users.\(task)", options) == .permissionDenied)
        }
        let admin = await bridge.session(uid: 1000)
        #expect(try await admin.call("login.users.list") == ["users": []])
        await bridge.stop()
    }

    @Test("Login and logout are public; managing accounts requires the permission accounts.manage")
    func permissions() async throws {
        let bridge = try await start()
        let admin = await bridge.session(uid: 0)
        for (task, permission) in [
            ("login", "login"), ("logout", "logout"), ("login.status", "login.status"),
            ("login.users.add", "accounts.manage"), ("login.users.passwd", "accounts.manage"),
            ("login.users.remove", "accounts.manage"), ("login.users.list", "accounts.manage"),
        ] {
            let described = try await admin.call("bridge.describe", ["task": .string(task)])
            #expect(described["permission"]?.stringValue == permission, "\(task)")
            #expect(described["public"] == .bool(permission == task), "\(task)")
            #expect(described["events"]?[0]?["public"] == true)
        }
        await bridge.stop()
    }

    @Test("An account file that cannot be opened prevents the daemon's launch")
    func launching() async throws {
        await #expect(throws: (any Error).self) {
            try await TestBridge.start(
                .login(LoginService(settings: .cheap), SessionTokens()), stateDirectory: "/proc/none", daemonUID: 1000)
        }
    }

    @Test("The configuration is checked", arguments: ["password_cost", "token_days", "surprise"])
    func configuration(key: String) async throws {
        await #expect(throws: BridgeError.self) {
            try await TestBridge.start(.login(), configuration: ["login": [key: "cheap"]], daemonUID: 1000)
        }
    }
}
