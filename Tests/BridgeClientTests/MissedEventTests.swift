import BridgeJSON
import EventLoop
import Testing

@testable import BridgeClient

@Suite(.timeLimit(.minutes(10))) @LoopActor struct MissedEventTests {
    @Test("After a new session, each stream gets one bridge.events_dropped without a count before new events")
    func afterANewSession() async throws {
        try await withReconnecting { test in
            async let first = test.client.subscribe(to: "a")
            test.first.answer(await test.first.next(), [:])
            let one = try await first
            async let second = test.client.subscribe(to: "b.*")
            test.first.answer(await test.first.next(), [:])
            let two = try await second
            test.first.send(["event": "a", "data": 1])
            let connection = await test.renew(test.first)
            for _ in 0..<2 { connection.answer(await connection.next(), [:]) }
            #expect(await test.opened() == [])
            for name: JSON in ["a", "b.c"] { connection.send(["event": name, "data": 2]) }
            #expect(try await take(3, of: one) == [.init(name: "a", data: 1), .missed, .init(name: "a", data: 2)])
            #expect(try await take(2, of: two) == [.missed, .init(name: "b.c", data: 2)])
        }
    }

    @Test("Several attempts to reconnect cause only one bridge.events_dropped")
    func onceForSeveralAttempts() async throws {
        try await withReconnecting { test in
            async let subscribed = test.client.subscribe(to: "a")
            test.first.answer(await test.first.next(), [:])
            let events = try await subscribed
            var connection = await test.renew(test.first)
            // This connection is lost before it is open.
            _ = await connection.next()
            connection = await test.renew(connection)
            connection.answer(await connection.next(), [:])
            #expect(await test.opened() == [])
            connection.send(["event": "a", "data": 1])
            #expect(try await take(2, of: events) == [.missed, .init(name: "a", data: 1)])
        }
    }

    @Test("A stream that subscribed while it waited for the new session has missed nothing")
    func waiting() async throws {
        try await withReconnecting { test in
            test.first.close()
            let pause = try #require(await test.pause())
            async let subscribed = test.client.subscribe(to: "a")
            await test.timers.running(.seconds(60))
            test.timers.advance(by: pause)
            let second = await test.daemon.nextConnection()
            second.answer(await second.next(), [:])
            let events = try await subscribed
            second.send(["event": "a", "data": 1])
            #expect(try await take(1, of: events) == [.init(name: "a", data: 1)])
        }
    }

    @Test("A later stream gets the newest retained event of its patterns, although the daemon sends it once")
    func retained() async throws {
        try await withReconnecting { test in
            async let first = test.client.subscribe(to: "lamp*")
            test.first.answer(await test.first.next(), [:])
            let one = try await first
            for (name, data, isRetained) in [
                ("lamp", "on", true), ("lamp", "off", true), ("lamp.blown", 1, false),
            ] as [(JSON, JSON, Bool)] {
                test.first.send(["event": name, "retained": .bool(isRetained), "data": data])
            }
            #expect(try await take(3, of: one).map(\.data) == ["on", "off", 1])
            async let second = test.client.subscribe(to: "lamp", "lamp.blown")
            let subscribe = await test.first.next()
            test.first.send(["event": "lamp.blown", "data": 2])
            test.first.answer(subscribe, [:])
            let two = try await second
            #expect(
                try await take(2, of: two) == [.init(name: "lamp", data: "off"), .init(name: "lamp.blown", data: 2)])

            // The next daemon sends its own retained events.
            let connection = await test.renew(test.first)
            for _ in 0..<2 { connection.answer(await connection.next(), [:]) }
            #expect(await test.opened() == [])
            async let third = test.client.subscribe(to: "lamp")
            connection.answer(await connection.next(), [:])
            let three = try await third
            connection.send(["event": "lamp", "data": "new"])
            #expect(try await take(1, of: three) == [.init(name: "lamp", data: "new")])
            await one.end()
            await two.end()
        }
    }

    private func take(_ count: Int, of events: EventStream) async throws -> [BridgeEvent] {
        var seen: [BridgeEvent] = []
        for try await event in events {
            seen.append(event)
            if seen.count == count { break }
        }
        return seen
    }
}
