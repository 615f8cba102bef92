import BridgeJSON
import BridgeMessage
import EventLoop
import Testing

@testable import BridgeServer
@testable import TaskRuntime

@Suite("Connections whose input waits", .timeLimit(.minutes(10))) @LoopActor
struct WaitingConnectionTests {
    /// A registration that is read in the lane, so that further input waits.
    private static let registration =
        #"{"task":"bridge.register","options":{"tasks":["t"],"descriptions":{"t":{"options":{"pattern":"a"}}}},"#
        + #""callbackId":"r"}"#

    /// Returns a client whose input waits for the lane.
    private func waitingClient(_ daemon: ServerOfTest) async throws -> (client: ClientOfTest, session: Session) {
        let client = try daemon.client()
        client.send(Self.registration)
        #expect(
            await daemon.turn { daemon.lane.count > 0 && daemon.server.connections.values.contains { $0.isParked } })
        return (client, try #require(daemon.runtime.session(daemon.runtime.lastSession)))
    }

    @Test("A client that disconnects while its input waits, without further input, is removed at once")
    func parked() async throws {
        let daemon = try ServerOfTest()
        let (client, session) = try await waitingClient(daemon)
        client.close()
        #expect(await daemon.turn { daemon.server.connections.isEmpty })
        #expect(daemon.runtime.session(session.number) == nil && daemon.lane.count == 1)
        daemon.lane.runNext()
        #expect(await daemon.turn { daemon.runtime.quotas.queuedBytes == 0 && !session.waitsForJobs })
        #expect(daemon.runtime.tasks.find("t") == nil)
        await daemon.stop()
    }

    @Test("Further input of a disconnected client is processed, whether it was read or not", arguments: [true, false])
    func heard(isRead: Bool) async throws {
        let daemon = try ServerOfTest()
        let listener = try daemon.client()
        listener.startReading()
        listener.send(#"{"task":"bridge.subscribe","options":{"events":["last"]},"callbackId":1}"#)
        #expect(await daemon.turn { listener.messages.count == 1 })
        let last = #"{"task":"bridge.publish","options":{"event":"last","data":1}}"#
        let client = try daemon.client()
        if isRead {
            client.send(Self.registration, last)
            #expect(await daemon.turn { daemon.server.connections.values.contains { $0.isParked } })
        } else {
            client.close()
            let waiting = try await waitingClient(daemon).client
            waiting.send(last)
            waiting.close()
        }
        client.close()
        #expect(await daemon.turnsInVain { daemon.server.connections.count == 1 })
        daemon.lane.runNext()
        #expect(await daemon.turn { listener.messages.last?["event"] == "last" })
        #expect(await daemon.turn { daemon.server.connections.count == 1 })
        await daemon.stop()
    }

    @Test("A client that only ends its input is answered")
    func halfClosed() async throws {
        let daemon = try ServerOfTest()
        let (client, _) = try await waitingClient(daemon)
        client.send(#"{"task":"bridge.ping","callbackId":"p"}"#)
        client.endInput()
        #expect(await daemon.turnsInVain { daemon.server.connections.isEmpty })
        daemon.lane.runNext()
        client.startReading()
        #expect(await daemon.turn { client.messages.map { $0["callbackId"] } == ["r", "p"] })
        #expect(await daemon.turn { daemon.server.connections.isEmpty })
        client.close()
        await daemon.stop()
    }

    @Test("A client with too much unread output is removed at once when it disconnects")
    func unread() async throws {
        let daemon = try ServerOfTest()
        let (client, session) = try await waitingClient(daemon)
        let unread = [UInt8](repeating: UInt8(ascii: " "), count: 8 << 20)
        unread.withUnsafeBytes { session.output.append($0) }
        client.send(#"{"task":"bridge.ping"}"#)
        daemon.lane.runNext()
        // Its turn has come, but the server does not continue to read.
        #expect(await daemon.turn { daemon.server.connections.values.contains { $0.waitsForReader } })
        client.close()
        #expect(await daemon.turn { daemon.server.connections.isEmpty })
        #expect(daemon.runtime.session(session.number) == nil)
        await daemon.stop()
    }

    @Test("A stopping daemon continues to read from a session that received a call, but not within that call")
    func readOn() async throws {
        let daemon = try ServerOfTest()
        let provider = try daemon.client()
        provider.startReading()
        provider.send(#"{"task":"bridge.register","options":{"tasks":["t"]},"callbackId":1}"#)
        #expect(await daemon.turn { provider.messages.count == 1 })
        let connection = try #require(daemon.server.connections.values.first)
        daemon.server.hold()
        #expect(connection.isHeld)
        provider.send(#"{"task":"bridge.ping","callbackId":2}"#)
        #expect(await daemon.turnsInVain { provider.messages.count == 2 })
        connection.readOn()
        // Reading does not continue within this call.
        #expect(connection.isHeld)
        #expect(await daemon.turn { provider.messages.count == 2 })
        #expect(!connection.isHeld)
        // A connection that was closed meanwhile stays closed.
        daemon.server.hold()
        connection.readOn()
        connection.abandon()
        #expect(await daemon.turn { daemon.server.connections.isEmpty && !connection.isHeld })
        #expect(connection.isClosed)
        provider.close()
        await daemon.stop()
    }
}
