import BridgeJSON
import TestSupport
import Testing

@Suite("Calls of a plugin process that is too slow", .blocking)
struct PluginProcessBoundsTests {
    private func withPluginProcess(
        _ process: PluginInPython, _ configuration: String = "", in folder: TemporaryFolder,
        _ body: (DaemonProcess, Wire) throws -> Void
    ) throws {
        try process.write(to: folder)
        try withDaemon(configuration, pluginDirectory: folder.path) { daemon in try body(daemon, daemon.connect()) }
    }

    /// Receives the specified number of callbacks. Returns them by the ids of their calls.
    private func callbacks(_ count: Int, _ client: Wire) throws -> [Int: JSON] {
        var callbacks: [Int: JSON] = [:]
        for _ in 0..<count {
            let message = try client.receive()
            guard let id = message["callbackId"]?.int64Value else { throw TestFailure("no callback: \(message.text)") }
            #expect(callbacks.updateValue(message, forKey: Int(id)) == nil, "a second callback: \(message.text)")
        }
        return callbacks
    }

    @Test("that waited while their process did not read are handled by the next process")
    func waiting() throws {
        let folder = try TemporaryFolder()
        let first = folder.file("first")
        let gate = try Gate(in: folder)
        var process = PluginInPython()
        process.call = """
            if not os.path.exists("\(first)"):
                open("\(first)", "w").close()
                \(gate.python)
                os._exit(3)
            say({"callbackId": id, "result": len(m["options"])})
            """
        try withPluginProcess(process, in: folder) { _, client in
            // Twice as much as the daemon sends to a process that does not read.
            let count = 80
            let text = String(repeating: "x", count: 100_000)
            for id in 1...count { try client.send(#"{"task":"specimen","options":"\#(text)","callbackId":\#(id)}"#) }
            // When this call is answered, the daemon has received all calls.
            _ = try client.result("bridge.ping")
            gate.open()
            let callbacks = try callbacks(count, client)
            let answered = callbacks.values.filter { $0["result"] == 100_000 }
            let crashed = callbacks.values.filter { $0["error"]?["code"] == "plugin.crashed" }
            #expect(answered.count + crashed.count == count)
            #expect(crashed.count >= 40, "\(crashed.count)")
            #expect(answered.count >= 20, "\(answered.count)")
            #expect(callbacks[count]?["result"] == 100_000)
            #expect(try client.result("specimen.good", 1) == 1)
        }
    }

    @Test("wait if 65,536 of them are unanswered, even if the process reads, and continue after the answers")
    func unanswered() throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        var process = PluginInPython()
        process.start = "(held, keeps) = ([], [True])"
        // The process stops reading while its socket is full, so that the daemon also waits for it to read.
        process.call = """
            if keeps[0]:
                held.append(id)
                if len(held) == 50_000:
                    \(gate.python)
                if len(held) == 65_536:
                    say({"callbackId": held[0], "progress": 1})
            else:
                say({"callbackId": id, "result": "later"})
            """
        process.other = """
            if "cancel" in m:
                keeps[0] = False
                for each in held:
                    say({"callbackId": each, "result": len(held)})
            """
        let limits = "plugin_timeout = \"1m\"\n[limits]\ncalls_in_flight = 100000"
        try withPluginProcess(process, limits, in: folder) { _, client in
            let count = 65_600
            try client.send(#"{"task":"specimen","callbackId":1,"progress":true}"#)
            let calls = (2...count).map { #"{"task":"specimen","callbackId":\#($0)}"# + "\n" }.joined()
            try client.send(bytes: Array(calls.utf8))
            // When this call is answered, the daemon has received all calls.
            _ = try client.result("bridge.ping")
            gate.open()
            #expect(try client.receive()["progress"] == 1)
            try client.send(#"{"cancel":1}"#)
            let callbacks = try callbacks(count, client)
            #expect(callbacks[1]?["error"]?["code"] == "call.cancelled")
            #expect(callbacks.values.count { $0["result"] == 65_536 } == 65_535)
            #expect(callbacks.values.count { $0["result"] == "later" } == 64)
        }
    }

    @Test("fail with a defined error if the error of the process is too long, and the process continues")
    func longErrors() throws {
        var process = PluginInPython()
        process.call = """
            say({"callbackId": id, "error": {"code": "specimen.failed", "message": "x" * m["options"]}})
            """
        try withPluginProcess(process, in: TemporaryFolder()) { daemon, client in
            #expect(try client.call("specimen", 60_000)["error"]?["code"] == "specimen.failed")
            let error = try client.call("specimen", 70_000)["error"]
            #expect(error?["code"] == "reply.invalid")
            #expect(error?["message"] == "the callback's error has more than 65536 bytes")
            #expect(try client.result("specimen.good", 1) == 1)
        }
    }

    @Test("are cancelled individually: the process gets exactly these cancels")
    func cancelled() throws {
        var process = PluginInPython()
        process.start = "(numbers, cancelled) = ({}, [])"
        process.other = """
            if "cancel" in m:
                cancelled.append(numbers[m["cancel"]])
                say({"callbackId": m["cancel"], "error": {"code": "call.cancelled", "message": "It was cancelled."}})
                continue
            if task == "specimen.good":
                say({"callbackId": id, "result": cancelled})
                continue
            """
        process.call = """
            if m["options"] < 0: say({"callbackId": id, "result": 0})
            else: numbers[id] = m["options"]
            """
        try withPluginProcess(process, in: TemporaryFolder()) { _, client in
            for round in 0..<3 {
                // The slots of earlier calls are reused in another order.
                for _ in 0..<round * 7 { #expect(try client.result("specimen", -1) == 0) }
                let numbers = (0..<60).map { round * 60 + $0 }
                for number in numbers {
                    try client.send(#"{"task":"specimen","options":\#(number),"callbackId":\#(number)}"#)
                }
                let unwanted = numbers.filter { $0 % 3 == 1 }
                for number in unwanted.reversed() { try client.send(#"{"cancel":\#(number)}"#) }
                let callbacks = try callbacks(unwanted.count, client)
                #expect(callbacks.keys.sorted() == unwanted)
                #expect(callbacks.values.allSatisfy { $0["error"]?["code"] == "call.cancelled" })
                let ended = try client.result("specimen.good").arrayValue ?? []
                #expect(ended.suffix(unwanted.count).compactMap(\.int64Value) == unwanted.reversed().map(Int64.init))
                #expect(ended.count == (round + 1) * unwanted.count)
            }
        }
    }
}
