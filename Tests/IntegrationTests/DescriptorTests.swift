import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Watches and timers of plugins", .blocking)
struct DescriptorTests {
    @Test("In Swift, several calls wait for a pipe at once without blocking a thread", arguments: ["none", "process"])
    func pipe(isolation: String) throws {
        try withFixture(isolation) { folder, _, client in
            let path = folder.file("pipe")
            try #require(mkfifo(path, 0o600) == 0)
            let options = #"{"path":"\#(path)"}"#
            try client.send(#"{"task":"fixture.pipe","options":\#(options),"callbackId":1,"progress":true}"#)
            #expect(try client.receive()["progress"] == "waiting")
            // The plugin answers other calls in the meantime.
            #expect(try client.result("fixture.tick") == 3)
            let pipe = open(path, O_WRONLY | O_CLOEXEC)
            defer { close(pipe) }
            #expect(write(pipe, "ring", 4) == 4)
            #expect(try client.receive()["result"] == "ring")
            // A cancelled call stops waiting.
            try client.send(#"{"task":"fixture.pipe","options":\#(options),"callbackId":2,"progress":true}"#)
            #expect(try client.receive()["progress"] == "waiting")
            try client.send(#"{"cancel":2}"#)
            #expect(try client.receive()["error"]?["code"] == "call.cancelled")
            try client.result("bridge.status") { status in
                status["tasks"]?.arrayValue?.contains { $0["name"] == "fixture.pipe" && $0["inFlight"] == 0 } == true
            }
        }
    }

    @Test("In Swift, timers fire at an interval and once, and typed events are sent", arguments: ["none", "process"])
    func timers(isolation: String) throws {
        try withFixture(isolation) { _, _, client in
            _ = try client.result("bridge.subscribe", ["events": ["fixture.ticked"]])
            try client.send(#"{"task":"fixture.tick","callbackId":1}"#)
            for tick in 1...3 { #expect(try client.receive()["data"] == ["tick": .number(JSONNumber(tick))]) }
            #expect(try client.receive()["result"] == 3)
        }
    }

    /// Makes requests that must fail, sets and ends 1,024 timers, then watches a pipe from a timer. Answers with the
    /// events and the number of bytes read.
    private var plugin: PluginInC {
        var plugin = PluginInC()
        plugin.definitions = """
            #include <errno.h>
            #include <fcntl.h>
            #include <stdio.h>
            #include <unistd.h>
            static int ends[2];
            static trestle_call current;
            static void never(void *argument) { host->reply(host, current, text("0")); }
            static void ready(void *argument, uint32_t events) {
                char answer[64], byte;
                snprintf(answer, sizeof answer, "[%u,%zd]", events, read(ends[0], &byte, 1));
                host->reply(host, current, text(answer));
            }
            static void fire(void *argument) {
                if (host->watch(host, ends[0], TRESTLE_WATCH_READABLE, ready, 0) < 0) never(0);
                if (write(ends[1], "x", 1) != 1) never(0);
            }
            """
        plugin.call = """
            current = request->call;
            if (!TRESTLE_HAS(host, unwatch) || pipe(ends) != 0) never(0);
            int file = open("/etc/passwd", O_RDONLY);
            if (host->watch(host, file, TRESTLE_WATCH_READABLE, ready, 0) != -EPERM) never(0);
            if (host->watch(host, -1, TRESTLE_WATCH_READABLE, ready, 0) != -EBADF) never(0);
            if (host->watch(host, ends[0], 4, ready, 0) != -EINVAL) never(0);
            int64_t numbers[1024];
            for (int i = 0; i < 1024; i++) numbers[i] = host->timer(host, i, never, 0);
            if (host->timer(host, 0, never, 0) != -EMFILE) never(0);
            for (int i = 0; i < 1024; i++) host->unwatch(host, numbers[i]);
            host->timer(host, 1000000, fire, 0);
            close(file);
            """
        return plugin
    }

    @Test(
        "In C, descriptors and timers fire once each, and those that were ended do not fire",
        arguments: ["none", "process"])
    func inC(isolation: String) throws {
        let folder = try TemporaryFolder()
        try plugin.build(in: folder)
        let section = "[plugins.specimen]\nisolation = \"\(isolation)\""
        try withDaemon(section, pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let answer = try client.result("specimen")
            #expect(answer == [1, 1])
        }
    }
}
