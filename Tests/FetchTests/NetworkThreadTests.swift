import Dispatch
import HTTPRules
import Synchronization
import TaskKit
import Testing

@testable import FetchTasks

@Suite("The network thread", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere))
struct NetworkThreadTests {
    /// Stores the work that is posted to a loop.
    private final class PostedWork: Sendable {
        private let work = Mutex<[@Sendable () -> Void]>([])

        var count: Int { work.withLock { $0.count } }

        func post(_ body: @escaping @Sendable () -> Void) { work.withLock { $0.append(body) } }

        func run() {
            for body in work.withLock({ work in
                defer { work = [] }
                return work
            }) { body() }
        }
    }

    private let network = Network()
    private let posted = PostedWork()
    private let server: ScriptedServer

    init() throws { server = try ScriptedServer(["/": Script.response("hello"), "/hang": [["hang": true]]]) }

    private func start(
        _ path: String = "/", onPhase: (@Sendable (TransferProgress.Phase) -> Void)? = nil
    ) throws -> RunningTransfer {
        var gate = AddressGate()
        gate.openNetworks = [try #require(IPNetwork("127.0.0.0/8"))]
        let request = TransferRequest(
            url: try WebURL(try #require(server.url(path).stringValue)), method: "GET", headers: HeaderList(),
            dropsRedirects: false, maximumBodyBytes: 1000, connectTimeout: .seconds(600), idleTimeout: .seconds(600),
            gate: gate, tls: TLSSettings(), onPhase: onPhase)
        return try network.start(request, for: 1000, post: posted.post)
    }

    private func status(of transfer: RunningTransfer) async throws -> Int? {
        guard case .head(let head) = try await transfer.next() else { return nil }
        return head.status
    }

    @Test("is woken once for all transfers that one turn of the loop begins")
    func together() async throws {
        let (phases, onPhase) = AsyncStream.makeStream(of: TransferProgress.Phase.self)
        let goOn = DispatchSemaphore(value: 0)
        // Blocked by the semaphore, the thread takes no new transfers.
        let first = try start { phase in
            guard phase == .waiting else { return }
            onPhase.yield(phase)
            goOn.wait()
        }
        posted.run()
        for await _ in phases { break }
        let transfers = try (0..<5).map { _ in try start() }
        #expect(posted.count == 1)
        goOn.signal()
        posted.run()
        for transfer in [first] + transfers { #expect(try await status(of: transfer) == 200) }
        await network.stop()
    }

    @Test("may have ended before the loop runs posted work")
    func late() async throws {
        let transfer = try start("/hang")
        await network.stop()
        posted.run()
        let error = await #expect(throws: BridgeError.self) { try await transfer.next() }
        #expect(error?.code == .callCancelled)
    }

    @Test("If too many users have a thread, the next one gets busy, and nothing was sent")
    func threads() async throws {
        let port = try BoundPort()
        let url = try WebURL("http://127.0.0.1:\(port.number)/")
        func start(_ user: UInt32) throws -> RunningTransfer {
            let request = TransferRequest(
                url: url, method: "GET", headers: HeaderList(), dropsRedirects: false, maximumBodyBytes: 1000,
                connectTimeout: .seconds(600), idleTimeout: .seconds(600), gate: AddressGate(), tls: TLSSettings())
            return try network.start(request, for: user)
        }
        let transfers = try (0..<UInt32(Network.maximumThreads)).map { try start($0) }
        let error = #expect(throws: BridgeError.self) { try start(1000) }
        #expect(error?.code == .busy && error?.data?["started"] == false)
        withExtendedLifetime(transfers) {}
        await network.stop()
    }
}
