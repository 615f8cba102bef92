import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Streams from the command line to a plugin process and back", .blocking)
struct StreamCommandTests {
    /// Returns a plugin that counts the bytes of `photo`, and answers with a stream of `make` bytes or with half of it.
    private func plugin() -> PluginInPython {
        var plugin = PluginInPython()
        plugin.start = """
            import base64, hashlib
            last = 0
            def ask(task, options, **more):
                global last
                last += 1
                say({"task": task, "options": options, "callbackId": "own %d" % last, **more})
                wanted = "own %d" % last
                for line in lines:
                    m = json.loads(line)
                    if m.get("callbackId") == wanted: return m
                    if m.get("task") == "plugin.ping": say({"callbackId": m["callbackId"], "result": {}})
            def read(stream, id):
                data = b""
                more = {"caller": id}
                while True:
                    m = ask("bridge.stream.read", {"stream": stream}, **more)
                    more = {}
                    if "error" in m or m["result"].get("end"): return data, m
                    data += base64.b64decode(m["result"]["base64"])
            def write(stream, data):
                for at in range(0, len(data), 24000):
                    text = base64.b64encode(data[at:at + 24000]).decode()
                    if "error" in ask("bridge.stream.write", {"stream": stream, "base64": text}): return
            """
        plugin.call = """
            o = m["options"]
            if o.get("refuses"):
                made = ask("bridge.stream.new", {}, caller=id)["result"]["stream"]
                say({"callbackId": id, "result": {"file": made}})
                return ask("bridge.stream.close", {"stream": made, "error": {"code": "no.no", "message": "no ink"}})
            if o.get("copies"):
                made = ask("bridge.stream.new", {}, caller=id)["result"]["stream"]
                more = {"caller": id}
                first = ask("bridge.stream.read", {"stream": o["photo"], "bytes": 24000}, **more)
                say({"callbackId": id, "result": {"file": made}})
                while "base64" in first.get("result", {}):
                    if "error" in ask("bridge.stream.write", {"stream": made, "base64": first["result"]["base64"]}): return
                    first = ask("bridge.stream.read", {"stream": o["photo"], "bytes": 24000})
                return ask("bridge.stream.close", {"stream": made})
            if "photo" in o:
                data, end = read(o["photo"], id)
                hash = hashlib.sha256(data).hexdigest()
                return say({"callbackId": id, "result": {"bytes": len(data), "sha256": hash, "end": end.get("result")}})
            made = ask("bridge.stream.new", {"bytes": o["make"]}, caller=id)["result"]["stream"]
            say({"callbackId": id, "result": {"file": made, "name": "a"}})
            data = (b"%09d\\n" * (o["make"] // 10 + 1)) % tuple(range(o["make"] // 10 + 1))
            if o.get("breaks"):
                write(made, data[:o["make"] // 2])
                ask("bridge.stream.close", {"stream": made, "error": {"code": "disk.broken", "message": "no disk"}})
            else:
                write(made, data[:o["make"]])
                ask("bridge.stream.close", {"stream": made, "bytes": o["make"]})
            """
        plugin.taskSettings = """
            options = { type = "object", properties = { photo = { type = "string", format = "trestle-stream" } } }
            result = { type = "object", properties = { file = { type = "string", format = "trestle-stream" } } }
            """
        return plugin
    }

    private func withPlugin(_ body: (DaemonProcess, TemporaryFolder) throws -> Void) throws {
        let folder = try TemporaryFolder()
        try plugin().write(to: folder)
        try withDaemon(pluginDirectory: folder.path) { try body($0, folder) }
    }

    /// Returns the text of a stream of the specified number of bytes.
    private func numbers(_ count: Int) -> String {
        let lines = (0...count / 10).map { number in
            String(repeating: "0", count: 9 - "\(number)".count) + "\(number)\n"
        }
        return String(lines.joined().prefix(count))
    }

    @Test("A file is sent with key=@file, and standard input with key=@-", arguments: [0, 1, 1_000_003])
    func sends(bytes: Int) throws {
        try withPlugin { daemon, folder in
            let text = numbers(bytes)
            let file = try folder.write(text, to: "photo")
            let hash = try run("/usr/bin/sha256sum", [file]).output.prefix(64)
            let named = try daemon.home.trestle("call", "specimen", "photo=@\(file)")
            #expect(named.end == .exited(0) && named.errors == "", "\(named.errors)")
            let result = try JSON(parsing: named.output)
            #expect(result["bytes"] == .number(JSONNumber(bytes)) && result["sha256"] == .string(String(hash)))
            #expect(result["end"] == ["end": true, "bytes": .number(JSONNumber(bytes))])
            let piped = try daemon.home.trestle("call", "specimen", "photo=@-", input: text)
            let same = try JSON(parsing: piped.output)
            #expect(piped.end == .exited(0) && same == result, "\(piped.errors)")
        }
    }

    @Test("A task may answer with a stream before it has read its own: both continue concurrently")
    func copies() throws {
        try withPlugin { daemon, folder in
            let text = numbers(1_000_003)
            let file = try folder.write(text, to: "photo")
            let run = try daemon.home.trestle("call", "specimen", "photo=@\(file)", "copies=true")
            #expect(run.end == .exited(0) && run.errors == "", "\(run.errors)")
            #expect(run.output == text)
        }
    }

    @Test("If the result's stream fails, the files still being sent end, and so does the command")
    func refused() throws {
        try withPlugin { daemon, folder in
            let file = try folder.write(numbers(1_000_003), to: "photo")
            let run = try daemon.home.trestle("call", "specimen", "photo=@\(file)", "refuses=true")
            #expect(run.end == .exited(1) && run.errors.contains("no ink"), "\(run.errors)")
            let status = try daemon.connect().result("bridge.status")
            #expect(status["callsInFlight"] == 1)
        }
    }

    @Test("A stream in a result is written to standard output; with --result the result goes to standard error")
    func receives() throws {
        try withPlugin { daemon, _ in
            let run = try daemon.home.trestle("call", "specimen", "make=1000003")
            #expect(run.end == .exited(0) && run.errors == "", "\(run.errors)")
            #expect(run.output == numbers(1_000_003))
            let shown = try daemon.home.trestle("call", "specimen", "make=5", "--result", "--stream", "file")
            #expect(shown.output == "00000" && shown.errors.contains(#""name":"a""#), "\(shown.errors)")
        }
    }

    @Test("An incomplete stream ends the command with 1, and the error states the reason")
    func incomplete() throws {
        try withPlugin { daemon, _ in
            let run = try daemon.home.trestle("call", "specimen", "make=100000", "breaks=true")
            #expect(run.end == .exited(1) && run.errors.contains("no disk"), "\(run.errors)")
            #expect(run.output == numbers(100_000).prefix(50_000))
        }
    }

    @Test("A value that the schema does not declare as a stream stays a string; a missing file is reported")
    func names() throws {
        try withPlugin { daemon, _ in
            let plain = try daemon.home.trestle("call", "specimen.good", "photo=@nowhere")
            #expect(plain.output == "{\"photo\":\"@nowhere\"}\n", "\(plain.errors)")
            let missing = try daemon.home.trestle("call", "specimen", "photo=@nowhere")
            #expect(missing.end == .exited(1))
            #expect(missing.errors.contains("nowhere cannot be opened"), "\(missing.errors)")
            let none = try daemon.home.trestle("call", "specimen.good", "a=1", "--stream", "b")
            #expect(none.end == .exited(64) && none.errors.contains("no member b"), "\(none.errors)")
        }
    }

    @Test("A plugin that is killed while it writes breaks the stream, and none remains")
    func killed() throws {
        try withPlugin { daemon, _ in
            let client = try daemon.connect()
            let result = try client.result("specimen", ["make": 10_000_000])
            let stream = result["file"] ?? .null
            _ = try client.result("bridge.stream.read", ["stream": stream, "bytes": 1])
            let pid = try #require(try client.result("bridge.plugins")["plugins"]?[0]?["pid"]?.int64Value)
            kill(pid_t(pid), SIGKILL)
            var code: JSON?
            while code == nil {
                code = try client.call("bridge.stream.read", ["stream": stream])["error"]?["code"]
            }
            #expect(code == "stream.closed")
            let status = try client.result("bridge.status")
            #expect(status["streams"] == 0)
        }
    }
}
