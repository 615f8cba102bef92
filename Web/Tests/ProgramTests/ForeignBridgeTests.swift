import BridgeClient
import BridgeJSON
import PrivateDaemon
import TestSupport
import Testing

@Suite(
    "Pages with the original JavaScript of other bridges", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct ForeignBridgeTests {
    @Test(
        "WebViewJavascriptBridge: its ExampleApp calls a handler and is called",
        .enabled(if: PublicSuite.webViewJavascriptBridge.isThere, "\(PublicSuite.webViewJavascriptBridge.missing)"))
    func exampleApp() async throws {
        try await WebRun.with(rules: WebRun.dialectRules) { run in
            let (asked, writer) = AsyncStream.makeStream(of: JSON.self)
            try await run.bridge.register("testObjcCallback") { (options: JSON, _) -> JSON in
                writer.yield(options)
                return ["native": "done"]
            }
            let page = PublicSuite.webViewJavascriptBridge.text(of: "Example Apps/ExampleApp.html")
            try run.server.serve(page, as: "ExampleApp.html")
            try run.server.serve("<!doctype html><p>text", as: "page.html")
            try run.start("page.html", settings: #"dialects = ["webViewJavascriptBridge"]"#)
            try await run.awaitTasks()
            let uri = "\(run.server.origins[0])/ExampleApp.html"
            _ = try await run.bridge.call(
                "web.navigate", ["uri": .string(uri), "wait": "finished"] as JSON, as: JSON.self)
            try await run.evaluate("document.querySelector('#buttons button').click()")
            for await options in asked {
                #expect(options == ["foo": "bar"])
                break
            }
            let logged = try await run.evaluate(
                """
                const log = document.getElementById("log");
                return await new Promise((done) => {
                    const look = () => {
                        const line = [...log.children].find((child) => child.innerText.includes("JS got response"));
                        if (line) done(line.innerText);
                    };
                    new MutationObserver(look).observe(log, { childList: true });
                    look();
                });
                """)
            #expect(logged.stringValue?.contains(#"{"native":"done"}"#) == true, "\(logged)")
            let answer = try await run.bridge.call("testJavascriptHandler", ["a": 1] as JSON, as: JSON.self)
            #expect(answer == ["Javascript Says": "Right back atcha!"])
        }
    }

    @Test(
        "Capacitor: native-bridge.js calls plugins, receives events and finds the headers of trestle generate",
        .enabled(if: PublicSuite.capacitor.isThere, "\(PublicSuite.capacitor.missing)"))
    func capacitor() async throws {
        try await WebRun.with(rules: WebRun.dialectRules) { run in
            let library = PublicSuite.capacitor.text(
                of: "ios/Capacitor/Capacitor/assets/native-bridge.js")
            let headers = try TestSupport.run(
                "\(PackageFolder.programs)/trestle",
                ["generate", "--language", "capacitor", "--socket", run.folder.socketPath])
            try #require(headers.end == .exited(0), "\(headers.errors)")
            try run.server.serve(library, as: "native-bridge.js")
            try run.server.serve(headers.output, as: "headers.js")
            try run.server.serve(
                """
                <!doctype html><title>page</title>
                <script>window.Capacitor = { DEBUG: true };</script>
                <script src="native-bridge.js"></script><script src="headers.js"></script>
                <script>
                    (async () => {
                        const cap = window.Capacitor;
                        const echo = await cap.nativePromise("Trestle", "Echo", { a: 1 });
                        const code = await cap.nativePromise("test", "none", {}).catch(({ code }) => code);
                        const heard = new Promise((done) => cap.addListener("App", "resume", done));
                        await cap.nativePromise("test", "report", { isReady: true });
                        cap.nativePromise("test", "report", {
                            echo, code, heard: await heard, platform: cap.getPlatform(),
                            isKnown: cap.PluginHeaders.some(({ name }) => name === "Trestle"),
                        });
                    })();
                </script>
                """, as: "page.html")
            try run.start("page.html", settings: #"dialects = ["capacitor"]"#)
            #expect(try await run.report().value == ["isReady": true])
            try await run.bridge.publish("App.resume", ["number": 1] as JSON)
            #expect(
                try await run.report().value == [
                    "echo": ["a": 1], "code": "UNIMPLEMENTED", "heard": ["number": 1], "platform": "ios",
                    "isKnown": true,
                ])
        }
    }

    @Test(
        "Cordova: exec of the iOS platform calls SERVICE.ACTION and reports success and failure",
        .enabled(if: PublicSuite.cordova.isThere, "\(PublicSuite.cordova.missing)"),
        .enabled(if: PublicSuite.cordovaIOS.isThere, "\(PublicSuite.cordovaIOS.missing)"))
    func cordova() async throws {
        let (common, ios) = (PublicSuite.cordova, PublicSuite.cordovaIOS)
        let modules = [
            ("cordova", common.text(of: "src/cordova.js")),
            ("cordova/utils", common.text(of: "src/common/utils.js")),
            ("cordova/channel", common.text(of: "src/common/channel.js")),
            ("cordova/base64", common.text(of: "src/common/base64.js")),
            ("cordova/platform", ios.text(of: "cordova-js-src/platform.js")),
            ("cordova/exec", ios.text(of: "cordova-js-src/exec.js")),
        ]
        var library = "var PLATFORM_VERSION_BUILD_LABEL = 'test';\n\(common.text(of: "src/scripts/require.js"))"
        for (name, text) in modules {
            library += "\ndefine('\(name)', function (require, exports, module) {\n\(text)\n});\n"
        }
        library += "window.cordova = require('cordova');\n"
        try await WebRun.with(rules: WebRun.dialectRules) { run in
            try await run.bridge.register("test.plain") { (options: JSON, _) in options }
            try run.server.serve(library, as: "cordova.js")
            try run.server.serve(
                """
                <!doctype html><title>page</title><script src="cordova.js"></script>
                <script>
                    const exec = cordova.require("cordova/exec");
                    const promised = (...call) => new Promise((done) => {
                        exec((result) => done({ result }), ({ code }) => done({ code: typeof code }), ...call);
                    });
                    (async () => {
                        exec(null, null, "test", "report", ["no callbacks"]);
                        const object = await promised("test", "plain", [{ a: 1 }]);
                        const list = await promised("test", "plain", ["a", 2]);
                        const failed = await promised("test", "none", []);
                        exec(null, null, "test", "report", [{ object, list, failed }]);
                    })();
                </script>
                """, as: "page.html")
            try run.start("page.html", settings: #"dialects = ["cordova"]"#)
            #expect(try await run.report().value == ["no callbacks"])
            #expect(
                try await run.report().value == [
                    "object": ["result": ["a": 1]], "list": ["result": ["a", 2]], "failed": ["code": "string"],
                ])
        }
    }
}
