import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("A debugger", .blocking)
struct DebuggerTests {
    @Test(
        "A process that a debugger holds is not killed for silence, and answers when it is let go",
        .enabled(if: exists("/usr/bin/gdb"), "needs gdb"))
    func held() throws {
        let folder = try TemporaryFolder()
        try PluginInC(name: "held", task: "held").build(in: folder)
        try PluginInC(name: "stopped", task: "stopped").build(in: folder)
        try withDaemon("worker_timeout = \"100ms\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let held = try pid(of: "held", client), stopped = try pid(of: "stopped", client)
            let ends = try connectedPair()
            let debugger = try SpawnedProcess(
                "/usr/bin/gdb", ["-nx", "-q", "--readnever", "-p", "\(held)"], input: .descriptor(ends.theirs))
            close(ends.theirs)
            let deadline = Deadline()
            while !contents(of: "/proc/\(held)/status").contains("State:\tt"), !deadline.isOver { sched_yield() }
            // From here on this one is as silent, and nothing holds it.
            kill(stopped, SIGSTOP)
            try daemon.awaitLog("the process of the plugin stopped did not answer a ping", client)
            #expect(kill(held, 0) == 0)
            // The end of its input has gdb let go and end.
            close(ends.ours)
            #expect(try debugger.wait() == .exited(0))
            #expect(try client.result("held") == "held")
            #expect(try pid(of: "held", client) == held)
        }
    }

    private func pid(of plugin: String, _ client: Wire) throws -> pid_t {
        let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
        let pid = plugins.first { $0["name"]?.stringValue == plugin }?["pid"]?.int64Value
        return pid_t(try #require(pid))
    }
}
