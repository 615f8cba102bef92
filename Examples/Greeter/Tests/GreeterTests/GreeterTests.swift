import TaskKit
import TaskKitTesting
import Testing

@testable import GreeterPlugin

@Test("The plugin passes its own check")
func conforms() throws {
    try makeGreeter().check()
}

@Test("A guest signs the book once, and subscribers get an event")
func signing() async throws {
    let bridge = try await TestBridge.start(makeGreeter(), configuration: ["greeter": ["signatures": 1]])
    let guest = await bridge.session()
    let other = await bridge.session()
    try await other.subscribe("greet.signed")

    #expect(try await guest.call("greet.sign", ["name": "Ann"]) == ["place": 1])
    #expect(await other.nextEvent().data == ["name": "Ann"])
    await #expect(throws: BridgeError.self) { try await guest.call("greet.sign", ["name": "Ann"]) }
    await bridge.stop()
}

@Test("A guest is introduced in a dialog")
func introducing() async throws {
    let bridge = try await TestBridge.start(makeGreeter())
    let desktop = await bridge.session()
    try await desktop.provide("Alert") { options in
        ["button": options["buttons"]?[0] ?? .null]
    }
    let guest = await bridge.session()
    #expect(try await guest.call("greet.introduce", ["who": "Ann"]) == ["button": "Hello"])
    #expect(await guest.nextEvent().data == ["button": "Hello"])
    await bridge.stop()
}

@Test("The status contains the number of signatures")
func figures() async throws {
    let bridge = try await TestBridge.start(makeGreeter())
    let guest = await bridge.session()
    try await guest.call("greet.sign", ["name": "Ann"])
    #expect(try await guest.call("bridge.status")["metrics"]?[0]?["value"] == 1)
    await bridge.stop()
}
