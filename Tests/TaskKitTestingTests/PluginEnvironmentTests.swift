import BridgeJSON
import EchoTasks
import TaskKit
import TaskKitTesting
import Testing

@Suite("A plugin in a test", .timeLimit(.minutes(20)))
struct PluginEnvironmentTests {
    @Test("answers in the same way in every environment", arguments: PluginEnvironment.all)
    func answers(environment: PluginEnvironment) async throws {
        try await withPlugin(.echo(), in: environment) { bridge in
            #expect(bridge.environment == environment)
            let options: JSON = ["b": 1, "a": [nil, "é\n"]]
            let answer = try await bridge.call("Echo", options)
            #expect(answer == options)
            let error = await #expect(throws: BridgeError.self) { try await bridge.call("Ecko") }
            #expect(error?.code == .taskNotFound)
        }
    }

    @Test("has clients that provide tasks, receive events and disconnect", arguments: PluginEnvironment.all)
    func clients(environment: PluginEnvironment) async throws {
        try await withPlugin(.echo(), in: environment) { bridge in
            let provider = try await bridge.session()
            let listener = try await bridge.session()
            try await listener.subscribe("session.closed")
            try await provider.provide("half") { options in
                guard let number = options.int64Value else { throw BridgeError(.optionsInvalid, "no number") }
                return .number(JSONNumber(number / 2))
            }
            // The provider is in this process, whose loop other tests occupy.
            let half = try await bridge.call("half", 8, timeout: .seconds(600))
            #expect(half == 4)
            let error = await #expect(throws: BridgeError.self) {
                try await bridge.call("half", "x", timeout: .seconds(600))
            }
            #expect(error?.code == .optionsInvalid)
            await provider.leave()
            #expect(await listener.nextEvent().name == "session.closed")
        }
    }

    @Test("has calls that end at their deadline", arguments: PluginEnvironment.all)
    func deadlines(environment: PluginEnvironment) async throws {
        try await withPlugin(.echo(), in: environment) { bridge in
            let provider = try await bridge.session()
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            try await provider.provide("late") { _ in
                begin.yield()
                try await Task.sleep(for: .seconds(3600))
                return nil
            }
            let call = Task { try await bridge.call("late", timeout: .milliseconds(300)) }
            for await _ in begun { break }
            try await bridge.advance(by: .milliseconds(400))
            let error = await #expect(throws: BridgeError.self) { try await call.value }
            #expect(error?.code == .callTimeout)
        }
    }

    @Test("has calls that end after their client has disconnected", arguments: PluginEnvironment.all)
    func left(environment: PluginEnvironment) async throws {
        try await withPlugin(.echo(), in: environment) { bridge in
            let client = try await bridge.session()
            await client.leave()
            let error = await #expect(throws: BridgeError.self) { try await client.call("Echo") }
            #expect(error?.code == .sessionClosed)
        }
    }

    @Test("returns the body's result and throws its error", arguments: PluginEnvironment.all)
    func outcome(environment: PluginEnvironment) async throws {
        struct Mine: Error, Equatable {}
        let number = try await withPlugin(.echo(), in: environment) { _ in 7 }
        #expect(number == 7)
        do {
            try await withPlugin(.echo(), in: environment) { _ in throw Mine() }
            Issue.record("Nothing was thrown.")
        } catch {
            #expect(error is Mine)
        }
    }
}
