import DiskTestSupport
import DurableDatabase
import Synchronization
import TaskKit
import Testing

@testable import LoginTasks

@Suite("The account store on failing disks")
struct AccountDiskTests {
    private let directory: TemporaryDirectory
    private let disk: FaultyDisk
    private let store: AccountStore
    private let ada = UserName("ada")!  // `!`: a valid name
    private let bob = UserName("bob")!  // `!`: the same
    private let start = WallTime(milliseconds: 1_800_000_000_000)

    private var path: String { directory.file("accounts.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
        disk = FaultyDisk(directory: directory.path)
        store = try AccountStore(path: directory.file("accounts.sqlite"), now: start)
        _ = try store.add(ada, PasswordHash(text: "old"), now: start)
    }

    @Test("A commit that does not reach the disk fails, and its changes do not reappear at the next start")
    func failedSync() throws {
        disk.set(.sync, true)
        #expect(throws: DatabaseFailure.self) { try store.setPassword(ada, PasswordHash(text: "new"), now: start) }
        #expect(throws: DatabaseFailure.self) { try store.add(bob, PasswordHash(text: "h"), now: start) }
        #expect(try store.list().map(\.user) == ["ada"])
        // Not closed: the next store finds the write-ahead log, as after a crash.
        disk.set(.sync, false)
        let next = try AccountStore(path: path, now: start)
        #expect(try next.list().map(\.user) == ["ada"])
        #expect(try next.account(ada)?.passwordHash == PasswordHash(text: "old"))
    }

    @Test("The file is reopened after a failure, before any other operation")
    func openedAnew() throws {
        // A setting of the connection distinguishes it from the next one.
        _ = try store.number("PRAGMA cache_size = 77")
        #expect(try store.number("PRAGMA cache_size") == 77)
        disk.set(.sync, true)
        #expect(throws: DatabaseFailure.self) { try store.add(bob, PasswordHash(text: "h"), now: start) }
        disk.set(.sync, false)
        #expect(try store.number("PRAGMA cache_size") != 77)
        #expect(try store.number("PRAGMA synchronous") == 2)
    }

    @Test("A full disk is reported, and with free space the next account is added")
    func full() throws {
        disk.set(.full, true)
        let failure = #expect(throws: DatabaseFailure.self) { try store.add(bob, PasswordHash(text: "h"), now: start) }
        #expect(failure?.isFull == true)
        #expect(try store.account(ada) != nil)
        disk.set(.full, false)
        #expect(try store.add(bob, PasswordHash(text: "h"), now: start))
    }

    @Test("A failed read is reported, and reads succeed again when the disk works")
    func failedRead() throws {
        try store.close()
        disk.set(.read, true)
        #expect(throws: DatabaseFailure.self) { try AccountStore(path: path, now: start) }
        disk.set(.read, false)
        #expect(try AccountStore(path: path, now: start).list().map(\.user) == ["ada"])
    }
}

@Suite("Errors of an unusable account database", .timeLimit(.minutes(20)))
struct AccountErrorTests {
    @Test("The log contains the path and SQLite's message, and the caller's error contains neither")
    func discretion() async throws {
        let directory = try TemporaryDirectory()
        let disk = FaultyDisk(directory: directory.path)
        let log = Mutex<[String]>([])
        let database = AccountDatabase()
        try await database.open(directory.file("accounts.sqlite"), now: WallTime(milliseconds: 0)) { line in
            log.withLock { $0.append(line) }
        }
        let user = try #require(UserName("ada"))
        for (fault, code, reason) in [
            (.sync, "storage.failed", "see the daemon's log"), (.full, "storage.full", "the disk is full"),
        ] as [(FaultyDisk.Fault, ErrorCode, String)] {
            disk.set(fault, true)
            let error = try await #require(throws: BridgeError.self) {
                _ = try await database.perform {
                    try $0.add(user, PasswordHash(text: "h"), now: WallTime(milliseconds: 0))
                }
            }
            disk.set(fault, false)
            #expect(error.code == code)
            #expect(error.message == "the accounts cannot be used: \(reason)")
            #expect(log.withLock { $0.last?.contains(directory.path) } == true)
        }
        try await database.close()
    }
}
