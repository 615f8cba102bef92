import TaskKit
import TaskKitTesting
import Testing

@testable import GreeterPlugin

@Test("The plugin greets, in each plugin environment", arguments: PluginEnvironment.all)
func greets(environment: PluginEnvironment) async throws {
    try await withPlugin(makeGreeter(), in: environment) { bridge in
        let answer = try await bridge.call("greet", ["who": "World"])
        #expect(answer == ["greeting": "Hello, World"])
    }
}

@Test("Invalid options are refused, in each plugin environment", arguments: PluginEnvironment.all)
func refuses(environment: PluginEnvironment) async throws {
    try await withPlugin(makeGreeter(), in: environment) { bridge in
        let error = await #expect(throws: BridgeError.self) { try await bridge.call("greet", ["who": 7]) }
        #expect(error?.code == .optionsInvalid)
    }
}

@Test(
    "A guest signs as often as the configuration allows, and others get events, in each plugin environment",
    arguments: PluginEnvironment.all)
func signs(environment: PluginEnvironment) async throws {
    try await withPlugin(makeGreeter(), in: environment, configuration: ["signatures": 2]) { bridge in
        let guest = try await bridge.session()
        let other = try await bridge.session()
        try await other.subscribe("greet.signed")
        for place in 1...2 {
            #expect(try await guest.call("greet.sign", ["name": "Ann"]) == ["place": .number(JSONNumber(place))])
            #expect(await other.nextEvent().data == ["name": "Ann"])
        }
        await #expect(throws: BridgeError.self) { try await guest.call("greet.sign", ["name": "Ann"]) }
    }
}

@Test(
    "Progress arrives in order, and a client provides a task that the plugin calls, in each plugin environment",
    arguments: PluginEnvironment.all)
func introduces(environment: PluginEnvironment) async throws {
    try await withPlugin(makeGreeter(), in: environment) { bridge in
        let desktop = try await bridge.session()
        try await desktop.provide("Alert") { options in ["button": options["buttons"]?[0] ?? .null] }
        #expect(try await bridge.call("greet.introduce", ["who": "Ann"]) == ["button": "Hello"])
        try await bridge.call("greet.sign", ["name": "Ann"])
        let roll = try await bridge.callWithProgress("greet.roll")
        #expect(roll.progress == [["name": "Ann"]] && roll.result == ["names": 1])
        await desktop.leave()
        await #expect(throws: BridgeError.self) { try await bridge.call("greet.introduce", ["who": "Ann"]) }
    }
}

@Test("A section that the plugin refuses is an error, in each plugin environment", arguments: PluginEnvironment.all)
func refusesConfiguration(environment: PluginEnvironment) async throws {
    do {
        try await withPlugin(makeGreeter(), in: environment, configuration: ["signatures": 0]) { _ in }
        Issue.record("It was taken.")
    } catch let error as BridgeError {
        #expect(error.message.contains("signatures"))
    }
}
