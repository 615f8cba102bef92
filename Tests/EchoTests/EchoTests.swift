import EchoTasks
import TaskKit
import TaskKitTesting
import Testing

@Suite("Echo", .timeLimit(.minutes(20)))
struct EchoTests {
    @Test("passes its own check")
    func conforms() throws {
        try Plugin.echo().check()
    }

    @Test(
        "returns its options",
        arguments: ["null", "{}", #"{"b":1,"a":[1e400,-0.0,12345678901234567890123]}"#, #""\u0000é😀""#, "[[[]]]"])
    func answers(_ text: String) async throws {
        let bridge = try await TestBridge.start(.echo())
        let session = await bridge.session()
        let options = try JSON(parsing: text)
        #expect(try await session.call("Echo", options) == options)
        await bridge.stop()
    }
}
