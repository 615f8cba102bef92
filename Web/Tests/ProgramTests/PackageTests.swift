import BridgeClient
import BridgeJSON
import OfflinePackages
import TestSupport
import Testing

@Suite(
    "Custom scheme, offline package, POST body", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct PackageTests {
    private static let origin = "trestle://notes"
    private static let profile = """
        allow = ["trestle://notes", "trestle://none"]
        bridge = ["trestle://notes"]
        csp = "default-src 'self' 'unsafe-inline'"
        [packages]
        keys = ["\(TestPackage.key.publicKey)"]
        [pool]
        warm = 0

        """

    private static func rules(_: [String]) -> String {
        """
        [[rule]]
        allow = "call"
        names = "test.report"
        origin = "\(origin)"
        """
    }

    private static func page(_ script: String, _ body: String = "") -> String {
        "<!doctype html><title>notes</title><script src='bridge.js'></script><p>text \(body)<script>\(script)</script>"
    }

    private static var library: String {
        contents(of: "\(PackageFolder.main)/Clients/JavaScript/dist/trestle-bridge.js")
    }

    private func install(_ run: WebRun, _ package: TestPackage) throws {
        let installed = try run.command("install", "--key", "\(TestPackage.key.publicKey)", package.file)
        try #require(installed.end == .exited(0), "\(installed.errors)")
    }

    @Test("a page of an installed package is shown, with its files, types, policy, storage and bridge")
    func shown() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            try run.write(profile: Self.profile, named: "notes")
            let script = """
                (async () => {
                    const type = async (path) => {
                        const answer = await fetch(path);
                        return [answer.status, answer.headers.get("content-type"), (await answer.text()).length];
                    };
                    const registered = navigator.serviceWorker?.register("a/x.mjs");
                    const worker = await registered?.then(() => "there", () => "none") ?? "none";
                    let evil = "ran";
                    try { Function("return 1")(); } catch { evil = "refused"; }
                    localStorage.setItem("a", "b");
                    WebBridge.call("test.report", {
                        origin: self.origin, isSecure: isSecureContext, stored: localStorage.getItem("a"), evil,
                        script: await type("a/x.mjs"), folder: (await type("a/"))[0],
                        worker, space: (await type("a/b%20c.txt?x#y"))[0], none: (await type("no.txt"))[0],
                        above: (await type("a/%2e%2e/%2e%2e/manifest.json"))[0],
                        post: (await fetch("index.html", { method: "POST", body: "x" })).status,
                        blob: (await fetch("index.html", { method: "POST", body: new Blob(["x"]) })).status,
                    });
                })();
                """
            try install(
                run,
                try TestPackage([
                    "index.html": Self.page(script), "bridge.js": Self.library, "a/x.mjs": "1;", "a/index.html": "x",
                    "a/b c.txt": "x",
                ]))
            try run.start("--profile", "notes", "\(Self.origin)/")
            let report = try await run.report()
            #expect(report.origin == Self.origin)
            #expect(
                report.value == [
                    "origin": .string(Self.origin), "isSecure": true, "stored": "b", "evil": "refused",
                    "worker": "none",
                    "script": [200, "text/javascript; charset=utf-8", 2], "folder": 200, "space": 200, "none": 404,
                    "above": 404, "post": 405, "blob": 405,
                ])
        }
    }

    @Test("install, list, rollback and remove: the next document belongs to the version in use")
    func versions() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            try run.write(profile: Self.profile, named: "notes")
            for version in ["1.0", "2.0"] {
                let page = Self.page("WebBridge.call('test.report', '\(version)');")
                try install(
                    run,
                    try TestPackage(
                        ["index.html": page, "bridge.js": Self.library],
                        head: #""id": "notes", "version": "\#(version)""#))
            }
            #expect(try run.command("list", "--profile", "notes").output == "notes 2.0 1.0\n")
            try run.start("--profile", "notes", "\(Self.origin)/index.html")
            #expect(try await run.report().value == "2.0")
            try await run.awaitTasks()
            #expect(try run.command("rollback", "--profile", "notes", "notes").output == "notes 1.0\n")
            _ = try await run.bridge.call("web.reload", as: JSON.self)
            #expect(try await run.report().value == "1.0")
            #expect(try run.command("remove", "--profile", "notes", "notes").end == .exited(0))
            #expect(try run.command("list", "--profile", "notes").output == "")
        }
    }

    @Test("package.not_found and package.invalid are errors of tasks and of commands")
    func errors() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            try run.write(profile: Self.profile, named: "notes")
            let page = Self.page("WebBridge.call('test.report', 'loaded');")
            try install(run, try TestPackage(["index.html": page, "bridge.js": Self.library]))
            try run.start("--profile", "notes", "\(Self.origin)/index.html")
            _ = try await run.report()
            try await run.awaitTasks()
            do throws(BridgeError) {
                _ = try await run.bridge.call(
                    "web.navigate", ["uri": "trestle://none/index.html"] as JSON, as: JSON.self)
                Issue.record("a package that there is not is shown")
            } catch {
                #expect(error.code == "package.not_found")
            }
            let foreign = try TestPackage(["index.html": "x"], key: PackageSecretKey())
            let refused = try run.command("install", "--profile", "notes", foreign.file)
            #expect(refused.end == .exited(1) && refused.errors.contains("(package.invalid)"))
            let missing = try run.command("rollback", "--profile", "notes", "none")
            #expect(missing.end == .exited(1) && missing.errors.contains("(package.not_found)"))
        }
    }

    @Test("foreign pages cannot fetch, frame, post to, import or navigate to a package")
    func foreign() async throws {
        let rules = { (origins: [String]) in Self.rules(origins) }
        try await WebRun.with(rules: rules) { run in
            let origin = run.server.origins[0]
            let keys = "[packages]\nkeys = [\"\(TestPackage.key.publicKey)\"]\n[pool]\nwarm = 0\n"
            try run.write(
                profile: "allow = [\"\(Self.origin)\", \"\(origin)\"]\nbridge = [\"\(Self.origin)\", \"\(origin)\"]\n"
                    + keys, named: "mixed")
            let page = Self.page("parent.postMessage('framed', '*'); WebBridge.call('test.report', 'package');")
            try install(
                run,
                try TestPackage(["index.html": page, "bridge.js": Self.library, "x.mjs": "export const x = 1;"]))
            try run.server.serve(
                "page.html",
                script: """
                    (async () => {
                        const attempt = (promise) => promise.then(() => "done", () => "refused");
                        let framed = "refused";
                        addEventListener("message", ({ data }) => { framed = data; });
                        const frame = document.createElement("iframe");
                        frame.src = "\(Self.origin)/index.html";
                        document.body.append(frame);
                        const image = new Promise((done, failed) => {
                            const script = document.createElement("script");
                            Object.assign(script, { src: "\(Self.origin)/bridge.js", onload: done, onerror: failed });
                            document.body.append(script);
                        });
                        const found = {
                            fetch: await attempt(fetch("\(Self.origin)/index.html")),
                            opaque: await attempt(fetch("\(Self.origin)/index.html", { mode: "no-cors" })),
                            post: await attempt(fetch("\(Self.origin)/index.html", { method: "POST", body: "x" })),
                            module: await attempt(import("\(Self.origin)/x.mjs")),
                            script: await attempt(image),
                        };
                        location = "\(Self.origin)/index.html";
                        const form = document.createElement("form");
                        Object.assign(form, { method: "POST", action: "\(Self.origin)/index.html" });
                        document.body.append(form);
                        form.submit();
                        // A navigation would have begun by the answers of two calls.
                        for (let i = 0; i < 2; i += 1) await new Promise((done) => WebBridge.call("Echo", {}, done));
                        WebBridge.call("test.report", { ...found, framed, stays: location.href });
                    })();
                    """)
            try run.start("--profile", "mixed", "\(origin)/page.html")
            let report = try await run.report()
            #expect(report.origin == origin)
            for name in ["fetch", "opaque", "post", "module", "script", "framed"] {
                #expect(report.value[name] == "refused", "\(name)")
            }
            #expect(report.value["stays"]?.stringValue == "\(origin)/page.html")
            // As a control: a local client can open the package's pages.
            try await run.awaitTasks()
            _ = try await run.bridge.call(
                "web.navigate", ["uri": .string("\(Self.origin)/index.html")] as JSON, as: JSON.self)
            #expect(try await run.report() == Report(origin: Self.origin, value: "package"))
        }
    }
}
