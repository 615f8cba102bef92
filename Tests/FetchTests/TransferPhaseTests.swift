import HTTPRules
import TaskKit
import Testing

@testable import FetchTasks

@Suite("The phases of a transfer", .timeLimit(.minutes(20)))
struct TransferPhaseTests {
    /// Starts a transfer and returns its phases up to `last`.
    private func phases(
        _ url: String, until last: TransferProgress.Phase, connectTimeout: Duration = .seconds(600),
        _ check: (RunningTransfer) async throws -> Void = { _ in }
    ) async throws -> [TransferProgress.Phase] {
        let (reports, onReport) = AsyncStream.makeStream(of: TransferProgress.Phase.self)
        var gate = AddressGate()
        gate.openNetworks = [try #require(IPNetwork("127.0.0.0/8"))]
        let request = TransferRequest(
            url: try WebURL(url), method: "GET", headers: HeaderList(), body: nil, dropsRedirects: false,
            keepsCoding: nil, maximumBodyBytes: 1000, integrity: nil, connectTimeout: connectTimeout,
            idleTimeout: .seconds(600), gate: gate, proxy: nil, tls: TLSSettings(),
            onPhase: { onReport.yield($0) })
        let network = Network()
        let transfer = try network.start(request, for: 1000)
        var phases: [TransferProgress.Phase] = []
        for await phase in reports {
            phases.append(phase)
            if phase == last { break }
        }
        try await check(transfer)
        transfer.cancel()
        await network.stop()
        return phases
    }

    @Test("is resolving while a name is looked up")
    func resolving() async throws {
        let phases = try await phases("http://nothing.invalid/", until: .resolving)
        #expect(phases == [.resolving])
    }

    @Test("is connecting until connectMs have passed, if the server accepts no connection")
    func connecting() async throws {
        let server = try BoundPort()
        server.listenWithoutRoom()
        let url = "https://127.0.0.1:\(server.number)/"
        let phases = try await phases(url, until: .connecting, connectTimeout: .milliseconds(50)) { transfer in
            let error = await #expect(throws: BridgeError.self) { try await transfer.next() }
            #expect(error?.code == .httpTimeout)
            #expect(error?.data == ["phase": "connecting", "started": false])
        }
        #expect(phases == [.connecting])
    }

    @Test("is connecting until connectMs have passed, if all connections to the host are in use")
    func waitingForConnection() async throws {
        let server = try BoundPort()
        server.listen()
        var gate = AddressGate()
        gate.openNetworks = [try #require(IPNetwork("127.0.0.0/8"))]
        let (reports, onReport) = AsyncStream.makeStream(of: TransferProgress.Phase.self)
        var request = TransferRequest(
            url: try WebURL("http://127.0.0.1:\(server.number)/"), method: "GET", headers: HeaderList(),
            dropsRedirects: false, maximumBodyBytes: 1000, connectTimeout: .seconds(600), idleTimeout: .seconds(600),
            gate: gate, tls: TLSSettings(), onPhase: { if $0 == .waiting { onReport.yield($0) } })
        let network = Network()
        let others = try (0..<6).map { _ in try network.start(request, for: 1000) }
        for await _ in reports.prefix(others.count) {}
        request.connectTimeout = .milliseconds(50)
        let last = try network.start(request, for: 1000)
        let error = await #expect(throws: BridgeError.self) { try await last.next() }
        #expect(error?.code == .httpTimeout)
        #expect(error?.data?["started"] == false)
        for other in others { other.cancel() }
        await network.stop()
    }

    @Test("is securing while the server does not start a TLS session")
    func securing() async throws {
        let server = try BoundPort()
        server.listen()
        let phases = try await phases("https://127.0.0.1:\(server.number)/", until: .securing)
        #expect(phases.last == .securing && Set(phases).isSubset(of: [.connecting, .securing]))
    }

    @Test("goes from connecting to waiting without TLS")
    func withoutTLS() async throws {
        let server = try BoundPort()
        server.listen()
        let phases = try await phases("http://127.0.0.1:\(server.number)/", until: .waiting)
        #expect(phases.last == .waiting && Set(phases).isSubset(of: [.connecting, .waiting]))
    }

    @Test("queued, resolving, connecting and securing come before the request")
    func started() {
        let before = TransferProgress.Phase.allCases.filter(\.isBeforeRequest)
        #expect(before == [.queued, .resolving, .connecting, .securing])
    }
}
