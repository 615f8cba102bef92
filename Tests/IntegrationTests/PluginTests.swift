import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Plugins in the daemon", .blocking)
struct PluginTests {
    @Test("an invalid library is reported with its file and the reason, and the others work")
    func refusals() throws {
        let folder = try TemporaryFolder()
        try PluginInC(name: "good").build(in: folder, as: "1-good.so")
        try PluginInC(name: "future", abi: "99").build(in: folder, as: "future.so")
        try PluginInC(name: "taker").build(in: folder, as: "taker.so")
        try PluginInC(name: "daemon", task: "bridge.ping").build(in: folder, as: "ping.so")
        try PluginInC(name: "good", task: "other").build(in: folder, as: "twin.so")
        try PluginInC(name: "garbled", launchWorkers: "7").build(in: folder, as: "garbled.so")
        try PluginInC(name: "open", task: "open").build(in: folder, as: "writable.so")
        chmod(folder.file("writable.so"), 0o777)
        try compile("int nothing;", in: folder, to: folder.file("library.so"))
        try compile("void *trestle_plugin_entry(void) { return 0; }", in: folder, to: folder.file("null.so"))
        try folder.write("I am a text.", to: "text.so")
        try folder.write("", to: "empty.so")
        mkdir(folder.file("folder.so"), 0o755)
        symlink("nowhere", folder.file("dangling.so"))
        let reasons = [
            "future.so": "built for version 99 of the plugin interface, this daemon speaks version 2",
            "taker.so": "its task specimen is provided by the plugin good already",
            "ping.so": "that does not begin with bridge., plugin. or rpc.",
            "twin.so": "the plugin good is already loaded, from \(folder.file("1-good.so"))",
            "garbled.so": "$.launchWorkers: expected", "writable.so": "everybody may write it",
            "library.so": "it is not a plugin: it exports no function trestle_plugin_entry",
            "null.so": "returned no table", "text.so": "it cannot be loaded: ", "empty.so": "it cannot be loaded: ",
            "folder.so": "it cannot be loaded: ", "dangling.so": "it cannot be read: No such file or directory",
        ]
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("specimen") == "good")
            let plugins = try client.result("bridge.plugins")["plugins"]?.arrayValue ?? []
            #expect(plugins.count == reasons.count + 1)
            let log = daemon.log.split(separator: "\n")
            for (file, reason) in reasons {
                let path = folder.file(file)
                let plugin = try #require(plugins.first { $0["path"]?.stringValue == path }, "\(file) is not listed")
                #expect(plugin["state"] == "refused")
                #expect(plugin["error"]?.stringValue?.contains(reason) == true, "\(plugin.text)")
                #expect(log.contains { $0.contains("error") && $0.contains(path) && $0.contains(reason) }, "\(file)")
            }
        }
    }

    @Test(
        "a library that belongs to another user is refused",
        .enabled(if: geteuid() == 0, "only root can give one away"))
    func foreignOwner() throws {
        let folder = try TemporaryFolder()
        chown(try PluginInC().build(in: folder), 65_534, 65_534)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let error = try daemon.connect().result("bridge.plugins")["plugins"]?[0]?["error"]?.stringValue
            #expect(
                error?.hasPrefix("it belongs to uid 65534; it must belong to root or to the daemon's user: ") == true)
        }
    }

    @Test("the daemon does not start if a required launch worker fails, and names it")
    func requiredWorker() throws {
        let folder = try TemporaryFolder()
        let workers = #"[{"name":"specimen.prepare","phase":"beforeListening"}]"#
        try PluginInC(launchWorkers: workers).build(in: folder)
        let home = try DaemonHome(pluginDirectory: folder.path)
        let daemon = try DaemonProcess(in: home)
        #expect(try daemon.wait() == .exited(1))
        #expect(
            daemon.log.contains("the required launch worker specimen.prepare failed: the disk is upside down")
        )
        #expect(!exists(home.socketPath))
    }

    @Test("the daemon starts if an optional launch worker fails, and reports its state")
    func optionalWorker() throws {
        let folder = try TemporaryFolder()
        let workers = #"[{"name":"specimen.prepare","phase":"beforeListening","required":false}]"#
        try PluginInC(launchWorkers: workers).build(in: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("specimen") == "specimen")
            let launch = try client.result("bridge.status")["launch"]?.arrayValue ?? []
            let worker = try #require(launch.first { $0["name"] == "specimen.prepare" })
            #expect(worker["state"] == "failed")
            #expect(worker["error"]?.stringValue?.contains("the disk is upside down") == true)
            #expect(daemon.log.contains("the launch worker specimen.prepare failed"))
        }
    }

    @Test(
        "launch workers with a cyclic or unknown dependency are named, and the daemon does not start",
        arguments: [
            (
                #"[{"name":"a","phase":"beforeListening","after":["b"]},{"name":"b","phase":"beforeListening","after":["a"]}]"#,
                "wait for each other in a cycle: a, b"
            ),
            (#"[{"name":"a","phase":"beforeListening","after":["c"]}]"#, "the launch worker a comes after c"),
        ])
    func impossibleOrder(workers: String, reason: String) throws {
        let folder = try TemporaryFolder()
        try PluginInC(launchWorkers: workers).build(in: folder)
        let daemon = try DaemonProcess(in: DaemonHome(pluginDirectory: folder.path))
        #expect(try daemon.wait() == .exited(1))
        #expect(daemon.log.contains(reason))
    }

    @Test("a plugin that does not start is omitted, and the others work")
    func failingStart() throws {
        let folder = try TemporaryFolder()
        let failure = """
            host->fail(host, request->call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI,
                .code = text("internal"), .message = text("no ink"), .retry_after_ns = -1});
            """
        try PluginInC(name: "dry", task: "print", start: failure).build(in: folder)
        try PluginInC().build(in: folder)
        try withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            #expect(try client.result("specimen") == "specimen")
            #expect(try client.call("print")["error"]?["code"] == "task.not_found")
            #expect(daemon.log.contains("libdry.so is not used: it does not start: no ink"))
        }
    }

    @Test("plugins that the configuration disables are not started")
    func disabled() throws {
        let folder = try TemporaryFolder()
        try PluginInC(name: "one", task: "one").build(in: folder)
        try PluginInC(name: "two", task: "two").build(in: folder)
        try withDaemon("plugins.disabled = [\"one\"]", pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            #expect(try client.call("one")["error"]?["code"] == "task.not_found")
            #expect(try client.result("two") == "two")
        }
    }

    // MARK: The contract, across the boundary

    static let isolations = ["none", "process"]

    /// Calls the task of a plugin in C once. Returns the callback and a later status.
    private func callback(
        call: String, definitions: String = "", timeout: Int = 60_000, isolation: String
    ) throws -> (JSON, status: JSON) {
        let folder = try TemporaryFolder()
        try PluginInC(call: call, definitions: definitions).build(in: folder)
        return try withDaemon(Self.section(isolation), pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"specimen","callbackId":1,"timeout":\#(timeout)}"#)
            let callback = try client.receive()
            // No other message arrived: the next one is the callback of the next call.
            let status = try client.result("bridge.status")
            return (callback, status)
        }
    }

    private static func section(_ isolation: String) -> String {
        "[plugins.specimen]\nisolation = \"\(isolation)\""
    }

    @Test("a second reply is dropped and counted", arguments: isolations)
    func twoReplies(isolation: String) throws {
        let reply = #"host->reply(host, request->call, text("1"));"#
        let (callback, status) = try callback(call: reply + reply, isolation: isolation)
        #expect(callback == ["callbackId": 1, "result": 1])
        #expect(status["droppedReplies"] == 1)
    }

    @Test("a call that is never answered ends with call.timeout", arguments: isolations)
    func noReply(isolation: String) throws {
        let (callback, _) = try callback(call: "", timeout: 20, isolation: isolation)
        #expect(callback["error"]?["code"] == "call.timeout")
    }

    @Test(
        "an answer that is not JSON fails the call", arguments: ["", "tru", "1 2", "{\\\"a\\\":}"],
        isolations)
    func invalidReply(result: String, isolation: String) throws {
        let (callback, _) = try callback(
            call: "host->reply(host, request->call, text(\"\(result)\"));", isolation: isolation)
        #expect(callback["error"]?["code"] == "reply.invalid")
    }

    @Test("an answer may be sent from any thread", arguments: isolations)
    func otherThread(isolation: String) throws {
        let definitions = """
            static void *answer(void *call) {
                host->reply(host, (trestle_call)(uintptr_t)call, text("\\"from afar\\""));
                return NULL;
            }
            """
        let call = """
            pthread_t thread;
            pthread_create(&thread, NULL, answer, (void *)(uintptr_t)request->call);
            pthread_detach(thread);
            """
        let (callback, _) = try callback(call: call, definitions: definitions, isolation: isolation)
        #expect(callback == ["callbackId": 1, "result": "from afar"])
    }

    @Test(
        "work that a plugin adds to the main queue, like @MainActor code, runs on the main thread",
        arguments: isolations)
    func mainQueue(isolation: String) throws {
        let definitions = """
            #include <sys/syscall.h>
            #include <unistd.h>
            extern struct dispatch_queue_s _dispatch_main_q;
            void dispatch_async_f(struct dispatch_queue_s *queue, void *context, void (*work)(void *));
            static void answer(void *call) {
                const char *thread = syscall(SYS_gettid) == getpid() ? "\\"main\\"" : "\\"another\\"";
                host->reply(host, (trestle_call)(uintptr_t)call, text(thread));
            }
            """
        let call = "dispatch_async_f(&_dispatch_main_q, (void *)(uintptr_t)request->call, answer);"
        let folder = try TemporaryFolder()
        try PluginInC(call: call, definitions: definitions).build(in: folder)
        try withDaemon(Self.section(isolation), pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            for _ in 1...100 { #expect(try client.result("specimen") == "main") }
            for id in 0..<100 { try client.send(#"{"task":"specimen","callbackId":\#(id)}"#) }
            let callbacks = try (0..<100).map { _ in try client.receive() }
            #expect(callbacks.map { $0["callbackId"]?.int64Value } == Array(0..<100))
        }
    }

    @Test("the example in C counts and reports progress")
    func counter() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            let tasks = try client.result("bridge.tasks")["tasks"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
            #expect(tasks?.contains("counter.count") == true, "\(tasks ?? [])")
            try client.send(#"{"task":"counter.count","options":3,"callbackId":1,"progress":true}"#)
            #expect(try client.receive() == ["callbackId": 1, "progress": 1, "sequence": 0])
            #expect(try client.receive() == ["callbackId": 1, "progress": 2, "sequence": 1])
            #expect(try client.receive() == ["callbackId": 1, "result": 3])
        }
    }
}
