import DurableDatabase
import Synchronization
import TaskKit

@testable import LoginTasks

/// Two clocks that only advance when a test advances them.
final class TestClocks: Sendable {
    private let elapsed = Mutex(Duration.zero)

    static let start = WallTime(milliseconds: 1_800_000_000_000)

    func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }

    var wall: WallTime { Self.start + elapsed.withLock { $0 } }

    var clocks: LoginClocks {
        LoginClocks(wall: { self.wall }, monotonic: { self.elapsed.withLock { $0 } })
    }
}

/// A login service in its own directory, with the cheapest hashes.
struct ServiceUnderTest {
    let directory: TemporaryDirectory
    let clocks = TestClocks()
    let service: LoginService

    /// - Parameter directory: A directory with accounts of an earlier service; `nil` for a new one.
    init(settings: LoginSettings = .cheap, directory: TemporaryDirectory? = nil) async throws {
        self.directory = try directory ?? TemporaryDirectory()
        service = LoginService(settings: settings, clocks: clocks.clocks)
        try await service.open(directory: self.directory.path)
    }

    func add(_ user: UserName, _ password: String) async throws {
        try await service.add(user, Secret(password), uid: 0)
    }

    func logIn(_ user: UserName, _ password: String, uid: UInt32 = 1000) async throws -> Grant {
        try await service.logIn(user, Secret(password), uid: uid)
    }

    /// Returns the error of a login; `nil` if it succeeds.
    func refusal(_ user: UserName, _ password: String, uid: UInt32 = 1000) async -> BridgeError? {
        do {
            _ = try await logIn(user, password, uid: uid)
            return nil
        } catch {
            return error as? BridgeError
        }
    }
}

extension LoginSettings {
    static var cheap: LoginSettings { LoginSettings(cost: .minimum) }
}

extension AccountStore {
    /// Returns the first accounts.
    func list() throws(DatabaseFailure) -> [AccountSummary] { try list(after: nil, limit: 100) }
}
