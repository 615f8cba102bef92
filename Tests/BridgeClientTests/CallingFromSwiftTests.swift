import BridgeClient
import BridgeJSON
import EventLoop
import Testing

/// The code of the article "Calling from Swift".
@Suite(.timeLimit(.minutes(20))) @LoopActor struct CallingFromSwiftTests {
    struct Guest: Codable, Sendable { var who: String }
    struct Greeting: Codable, Sendable { var greeting: String }
    struct Door: Codable, Sendable { var floor: Int }
    struct Photo: Codable, Sendable { var photo: ByteReader }
    struct NewPhoto: Codable, Sendable { var photo: ByteStream }

    @Test("A program provides a task, calls it with progress, and receives the event that it publishes")
    func article() async throws {
        try await withDaemon { daemon in
            try await program(daemon.path)
        }
    }

    private func program(_ socket: String) async throws {
        try await withBridge(socket: socket) { bridge in
            let registration = try await bridge.register("greet") { (guest: Guest, call) in
                call.reportProgress("thinking")
                return Greeting(greeting: "Hello, \(guest.who)")
            }
            let answer: Greeting = try await bridge.call("greet", Guest(who: "World"), timeout: .seconds(600))
            #expect(answer.greeting == "Hello, World")

            let work = try await bridge.callWithProgress(
                "greet", Guest(who: "Ann"), progress: String.self, as: Greeting.self)
            for await step in work { #expect(step == "thinking") }
            #expect(try await work.result.greeting == "Hello, Ann")

            let events = try await bridge.subscribe(to: "door.*")
            try await bridge.publish("door.opened", Door(floor: 2))
            for try await event in events {
                #expect(event.data == ["floor": 2])
                break
            }

            let counting = try await bridge.register("photo.count") { (options: Photo, _) in
                var count = 0
                for try await bytes in options.photo { count += bytes.count }
                return count
            }
            let photo = try await bridge.makeStream(type: "image/png")
            async let count: Int = bridge.call("photo.count", NewPhoto(photo: photo))
            try await photo.write { out in try await out.write([1, 2, 3]) }
            #expect(try await count == 3)
            try await counting.unregister()
            try await registration.unregister()
        }
    }
}
