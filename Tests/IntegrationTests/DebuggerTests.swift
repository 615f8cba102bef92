import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("A debugger", .blocking)
struct DebuggerTests {
    @Test(
        "A process that a debugger stops is not killed for silence, and answers after the debugger detaches",
        .enabled(if: mayDebug, "needs the right to debug a process that is no child"))
    func held() throws {
        let folder = try TemporaryFolder()
        try PluginInC(name: "held", task: "held").build(in: folder)
        try PluginInC(name: "stopped", task: "stopped").build(in: folder)
        let debugger = try buildDebugger(in: folder)
        try withDaemon("plugin_timeout = \"2s\"", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let held = try pid(of: "held", client), stopped = try pid(of: "stopped", client)
            let ends = try connectedPair()
            let process = try SpawnedProcess(
                debugger, ["\(held)"], input: .descriptor(ends.theirs), output: .descriptor(ends.theirs))
            close(ends.theirs)
            var byte: UInt8 = 0
            try #require(read(ends.ours, &byte, 1) == 1, "the debugger does not hold the process")
            // From here on this process is as silent, and no debugger has stopped it.
            kill(stopped, SIGSTOP)
            try daemon.awaitLog("the process of the plugin stopped did not answer a ping", client)
            #expect(kill(held, 0) == 0)
            // At the end of its input the debugger detaches and ends.
            close(ends.ours)
            #expect(try process.wait() == .exited(0))
            #expect(try client.result("held") == "held")
            #expect(try pid(of: "held", client) == held)
        }
    }

    /// Compiles a program that does what the kernel sees of every debugger: it attaches to a process, which stops, and
    /// detaches at the end. A real debugger also reads symbols, for an unbounded time.
    private func buildDebugger(in folder: TemporaryFolder) throws -> String {
        let source = """
            #include <stdlib.h>
            #include <sys/ptrace.h>
            #include <sys/wait.h>
            #include <unistd.h>
            int main(int count, char **arguments) {
                pid_t pid = atoi(arguments[1]);
                char byte = 0;
                if (ptrace(PTRACE_ATTACH, pid, 0, 0) != 0 || waitpid(pid, 0, __WALL) != pid) return 1;
                if (write(1, &byte, 1) != 1) return 2;
                while (read(0, &byte, 1) > 0) {}
                return ptrace(PTRACE_DETACH, pid, 0, 0) == 0 ? 0 : 3;
            }
            """
        let program = folder.file("debugger")
        let compiler = try run("/usr/bin/cc", ["-o", program, folder.write(source, to: "debugger.c")])
        guard compiler.end == .exited(0) else { throw TestFailure("no debugger can be compiled:\n\(compiler.errors)") }
        return program
    }

    private func pid(of plugin: String, _ client: Wire) throws -> pid_t {
        let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
        let pid = plugins.first { $0["name"]?.stringValue == plugin }?["pid"]?.int64Value
        return pid_t(try #require(pid))
    }
}

private var mayDebug: Bool {
    let scope = "/proc/sys/kernel/yama/ptrace_scope"
    return getuid() == 0 || !exists(scope) || contents(of: scope).hasPrefix("0")
}
