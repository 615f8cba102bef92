import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "The tasks of the container", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct TaskTests {
    /// Starts trestle-web with a page of one origin, and waits until it provides its tasks.
    private func start(_ run: WebRun, _ arguments: String...) async throws {
        let origin = run.server.origins[0]
        try run.server.serve("page.html", script: "WebBridge.call('test.report', 'loaded');", body: "<p>text")
        try run.start(arguments + ["--bridge", origin, "\(origin)/page.html"])
        _ = try await run.report()
        try await run.awaitTasks()
    }

    @Test("native calls page, result or error: a local program opens, navigates, evaluates, takes a picture and closes")
    func control() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try await start(run)
            let bridge = run.bridge
            try run.server.serve("second.html", script: "", body: "<b>second</b>")
            let opened = try await bridge.call(
                "web.open", ["uri": .string("\(origin)/second.html"), "wait": "finished"] as JSON, as: JSON.self)
            #expect(opened["title"] == "second.html" && opened["uri"]?.stringValue == "\(origin)/second.html")
            let views = try await bridge.call("web.views", as: JSON.self)
            #expect(views["views"]?.arrayValue?.count == 2)
            let view = opened["view"] ?? JSON.null

            let value = try await bridge.call(
                "web.evaluate",
                ["view": view, "script": "return { sum: 1 + 1, text: document.querySelector('b').innerText }"]
                    as JSON, as: JSON.self)
            #expect(value == ["result": ["sum": 2, "text": "second"]])
            let navigated = try await bridge.call(
                "web.navigate", ["view": view, "uri": .string("\(origin)/page.html"), "wait": "finished"] as JSON,
                as: JSON.self)
            #expect(navigated["title"] == "page.html")
            #expect(try await run.report().origin == origin)
            _ = try await bridge.call("web.reload", ["view": view, "wait": "finished"] as JSON, as: JSON.self)
            #expect(try await run.report().origin == origin)

            let picture = try await bridge.call("web.screenshot", ["view": view] as JSON, as: Picture.self)
            var bytes: [UInt8] = []
            for try await piece in picture.image { bytes += piece }
            #expect(bytes.starts(with: [0x89] + Array("PNG\r\n".utf8)))

            _ = try await bridge.call("web.close", ["view": view] as JSON, as: JSON.self)
            let status = try await bridge.call("web.status", as: JSON.self)
            #expect(status["open"] == 1)
        }
    }

    private struct Picture: Decodable, Sendable {
        var image: ByteReader
    }

    @Test("screenshot, WebGL too: the picture contains what a canvas has drawn")
    func webGL() async throws {
        try await WebRun.with { run in
            try await start(run)
            let hasWebGL = try await run.evaluate(
                """
                document.body.innerHTML = "<canvas style='position: fixed; inset: 0; width: 100%; height: 100%'>";
                const context = document.querySelector("canvas").getContext("webgl", { preserveDrawingBuffer: true });
                if (!context) return false;
                context.clearColor(0, 0.5, 1, 1);
                context.clear(context.COLOR_BUFFER_BIT);
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
                return true;
                """)
            try #require(hasWebGL == true, "this machine draws no WebGL")
            let picture = try await run.bridge.call("web.screenshot", [:] as JSON, as: Picture.self)
            var bytes: [UInt8] = []
            for try await piece in picture.image { bytes += piece }
            let color = try await run.evaluate(
                """
                const bytes = Uint8Array.from(\(bytes.map { Int($0) }));
                const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
                const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
                canvas.drawImage(image, 0, 0);
                return Array.from(canvas.getImageData(image.width / 2, image.height / 2, 1, 1).data);
                """)
            #expect(color == [0, 128, 255, 255] || color == [0, 127, 255, 255])
        }
    }

    @Test("each failure has its own error: an address outside the bounds, a script that throws, a missing view")
    func errors() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try await start(run)
            let other = run.server.origins[1]
            try await expect(run, "web.navigate", ["uri": "file:///etc/passwd"], "navigation.denied")
            try await expect(run, "web.navigate", ["uri": .string("\(other)/page.html")], "navigation.denied")
            try await expect(
                run, "web.navigate", ["uri": .string("\(origin)/redirect?\(other)/page.html")], "navigation.denied")
            try await expect(run, "web.open", ["uri": "data:text/html,x"], "navigation.denied")
            try await expect(run, "web.evaluate", ["script": "throw new TypeError('no')"], "script.failed")
            try await expect(run, "web.evaluate", ["script": "return (", "view": 1], "script.failed")
            try await expect(run, "web.close", ["view": 99], "view.not_found")
            try await expect(run, "web.navigate", ["view": 1], "options.invalid")
        }
    }

    @Test(
        "a script without a result fails: its document was left, or the value has no JSON",
        arguments: ["location.search = '?again'; await new Promise(() => {})", "return () => 1"])
    func noResult(_ script: String) async throws {
        try await WebRun.with { run in
            try await start(run)
            let error = await #expect(throws: BridgeError.self) { try await run.evaluate(script) }
            #expect(error?.code == "script.failed")
            #expect(error?.message.contains("the script has no result") == true, "\(error?.message ?? "")")
        }
    }

    private func expect(_ run: WebRun, _ task: String, _ options: JSON, _ code: ErrorCode) async throws {
        do {
            _ = try await run.bridge.call(task, options, as: JSON.self)
            Issue.record("\(task) \(options.text) has a result")
        } catch {
            #expect(error.code == code, "\(task) \(options.text): \(error.message)")
        }
    }

    @Test("a page may call only the tasks web.… that the profile lists, and only for itself")
    func pages() async throws {
        try await WebRun.with(
            rules: { origins in
                """
                [[rule]]
                allow = "call"
                names = "web.*"
                origin = "\(origins[0])"
                """
            }
        ) { run in
            let origin = run.server.origins[0]
            try await start(run)
            try run.server.serve(
                "attack.html",
                script: """
                    const codes = {};
                    for (const [task, options] of [
                        ["web.evaluate", { script: "return 1", view: 1 }], ["web.navigate", { uri: "about:blank" }],
                        ["web.open", { uri: location.href }], ["web.views", {}], ["web.close", { view: 1 }],
                    ]) {
                        WebBridge.call(task, options, (result, error) => {
                            codes[task] = error?.code ?? "done";
                            if (Object.keys(codes).length === 5) {
                                WebBridge.call("test.report", codes, () => WebBridge.call("web.close", {}));
                            }
                        });
                    }
                    """)
            let closed = try await run.bridge.subscribe(to: "web.closed")
            _ = try await run.bridge.call("web.open", ["uri": .string("\(origin)/attack.html")] as JSON, as: JSON.self)
            let denied: JSON = "permission.denied"
            let codes = try await run.report().value
            for task in ["web.evaluate", "web.navigate", "web.open", "web.views", "web.close"] {
                #expect(codes[task] == denied, "\(task)")
            }
            for try await event in closed {
                #expect(event.data["view"] != 1)
                break
            }
        }
    }

    @Test("alert, confirm and prompt use the task Alert, and the page gets the answer")
    func panels() async throws {
        try await WebRun.with { run in
            try await start(run)
            try await run.bridge.register("ui.alert") { (options: JSON, _) -> JSON in
                switch options["kind"]?.stringValue {
                case "prompt": ["index": 0, "text": .string("\(options["defaultText"]?.stringValue ?? "")!")]
                case "confirm": ["index": options["content"] == "yes?" ? 0 : 1]
                default: ["index": 0]
                }
            }
            let value = try await run.bridge.call(
                "web.evaluate",
                ["script": "return [alert('a') === undefined, confirm('yes?'), confirm('no?'), prompt('p', 'd')]"]
                    as JSON, as: JSON.self)
            #expect(value == ["result": [true, true, false, "d!"]])
        }
    }

    @Test("closeWeb closes the page of a session, and the last page ends the program")
    func closeWeb() async throws {
        try await WebRun.with { run in
            try await start(run)
            let views = try await run.bridge.call("web.views", as: JSON.self)
            let session = views["views"]?[0]?["session"] ?? JSON.null
            _ = try await run.bridge.call("closeWeb", ["session": session] as JSON, as: JSON.self)
            #expect(try run.end() == .exited(0))
        }
    }

    @Test("web.close of the last page is answered before the program ends")
    func lastClose() async throws {
        try await WebRun.with { run in
            // Without a fixed order, the answer would be missing in one of nine runs.
            for _ in 1...6 {
                try await start(run)
                #expect(try await run.bridge.call("web.close", as: JSON.self) == [:])
                #expect(try run.end() == .exited(0))
            }
        }
    }

    @Test("white screen: process ended: a page whose process is killed is loaded again, with a bridge")
    func crash() async throws {
        try await WebRun.with { run in
            // A waiting view may be starting its process, and the engine crashes if that process ends.
            try run.write(profile: "[pool]\nwarm = 0\n", named: "cold")
            try await start(run, "--profile", "cold")
            let crashes = try await run.bridge.subscribe(to: "web.crashed")
            try run.killWebProcesses()
            for try await event in crashes {
                #expect(event.data["willReload"] == true && event.data["reason"] == "crashed")
                break
            }
            #expect(try await run.report() == Report(origin: run.server.origins[0], value: "loaded"))
        }
    }
}
