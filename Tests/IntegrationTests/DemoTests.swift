import TestSupport
import Testing

@Suite("The demonstration", .blocking)
struct DemoTests {
    @Test("gets every answer that it expects")
    func demo() throws {
        try withDaemon { daemon in
            let demo = try run(Paths.program("trestle-demo"), [daemon.home.socketPath])
            #expect(demo.end == .exited(0), "\(demo.output)")
            #expect(demo.output.contains("messages, each as expected."))
        }
    }
}
