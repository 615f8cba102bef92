import BridgeJSON
import BridgeMessage
import EventLoop
import Testing

@testable import BridgeServer
@testable import TaskRuntime

@Suite("Connections whose input waits", .timeLimit(.minutes(10))) @LoopActor
struct WaitingConnectionTests {
    /// A registration that is read in the lane: further input waits.
    private static let registration =
        #"{"task":"bridge.register","options":{"tasks":["t"],"descriptions":{"t":{"options":{"pattern":"a"}}}},"#
        + #""callbackId":"r"}"#

    /// A client whose input waits for the lane.
    private func waitingClient(_ daemon: ServerOfTest) async throws -> (client: ClientOfTest, session: Session) {
        let client = try daemon.client()
        client.send(Self.registration)
        #expect(
            await daemon.turn { daemon.lane.count > 0 && daemon.server.connections.values.contains { $0.isParked } })
        return (client, try #require(daemon.runtime.session(daemon.runtime.lastSession)))
    }

    @Test("A client that goes while its input waits for the lane, and had sent nothing more, is gone at once")
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

    @Test("One that had sent more is heard to the end, whether that has been read or not", arguments: [true, false])
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

    @Test("One that ends its input alone is answered")
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

    @Test("One that has too much to read when its input may go on, and goes, is gone at once")
    func unread() async throws {
        let daemon = try ServerOfTest()
        let (client, session) = try await waitingClient(daemon)
        let unread = [UInt8](repeating: UInt8(ascii: " "), count: 8 << 20)
        unread.withUnsafeBytes { session.output.append($0) }
        client.send(#"{"task":"bridge.ping"}"#)
        daemon.lane.runNext()
        // Its turn has come, and it is not read on.
        #expect(await daemon.turn { daemon.server.connections.values.contains { $0.waitsForReader } })
        client.close()
        #expect(await daemon.turn { daemon.server.connections.isEmpty })
        #expect(daemon.runtime.session(session.number) == nil)
        await daemon.stop()
    }

    @Test("A stopping daemon reads on from a session that has got a call, though not while another's line is at work")
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
        // Not here and now.
        #expect(connection.isHeld)
        #expect(await daemon.turn { provider.messages.count == 2 })
        #expect(!connection.isHeld)
        // Who was closed meanwhile stays so.
        daemon.server.hold()
        connection.readOn()
        connection.abandon()
        #expect(await daemon.turn { daemon.server.connections.isEmpty && !connection.isHeld })
        #expect(connection.isClosed)
        provider.close()
        await daemon.stop()
    }
}
