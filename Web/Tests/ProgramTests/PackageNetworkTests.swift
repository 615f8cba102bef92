import BridgeClient
import BridgeJSON
import OfflinePackages
import TestSupport
import Testing

@Suite(
    "Network requests and request bodies of offline packages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct PackageNetworkTests {
    private static let origin = "trestle://notes"
    private static let network = "https://api.example"
    private static let head = """
        "id": "notes", "version": "1.0", "network": "\(network)", \
        "accepts": [{"method": "POST", "path": "/api/"}, {"method": "PUT", "path": "/api/"}]
        """

    /// The options of `http.fetch` that these tests check.
    private struct Fetch: Codable, Sendable {
        struct Body: Codable, Sendable {
            var base64: String?
            var stream: ByteReader?
            var bytes: Int?
        }
        var url: String
        var method: String
        var respond: String
        var `as`: String
        var headers: [[String]]
        var body: Body?
    }

    private struct Answer: Codable, Sendable {
        struct Body: Codable, Sendable { var stream: ByteStream }
        var status = 200
        var headers = [["Content-Type", "text/plain"], ["X-Own", "1"], ["Set-Cookie", "a=b"], ["Refresh", "0"]]
        var body: Body
    }

    /// Replaces the plugin: reports the received request to the caller. `/api/cut` breaks off the answer.
    private static func provide(_ bridge: Bridge) async throws {
        try await bridge.register("http.fetch") { (fetch: Fetch, call) in
            var text = fetch.body?.base64 ?? ""
            if let reader = fetch.body?.stream { text = "\(try await reader.collect(upTo: 8 << 20).count) bytes" }
            let names = fetch.headers.map { $0[0].lowercased() }
            let type = fetch.headers.first { $0[0].lowercased() == "content-type" }?[1].prefix { $0 != ";" } ?? ""
            let isMine = names.contains("x-mine")
            let report = "\(fetch.method) \(fetch.url) \(call.caller.origin) \(type) \(text) \(isMine)"
            let stream = try await bridge.makeStream(for: call)
            Task {
                try await stream.write { out in
                    try await out.write(Array(report.utf8))
                    if fetch.url.hasSuffix("/cut") { throw TestFailure("the network is gone") }
                }
            }
            return Answer(body: .init(stream: stream))
        }
    }

    private static func rules(_: [String]) -> String {
        """
        [[rule]]
        allow = "call"
        names = ["test.report", "http.fetch"]
        origin = "\(origin)"
        """
    }

    private static func start(_ run: WebRun, _ script: String, others: [String: String] = [:]) throws {
        try run.write(
            profile: """
                allow = ["\(origin)"]
                bridge = ["\(origin)"]
                [packages]
                keys = ["\(TestPackage.key.publicKey)"]
                [pool]
                warm = 0

                """, named: "notes")
        let page = """
            <!doctype html><title>notes</title><script src="bridge.js"></script><p>text<script>
            const text = async (...request) => {
                try {
                    const answer = await fetch(...request);
                    return answer.status === 200 ? await answer.text() : String(answer.status);
                } catch (error) {
                    return error.name;
                }
            };
            const report = (value) => WebBridge.call("test.report", value);
            addEventListener("unhandledrejection", ({ reason }) => report(String(reason)));
            \(script)
            </script>
            """
        var files = others
        files["index.html"] = page
        files["bridge.js"] = contents(of: "\(PackageFolder.main)/Clients/JavaScript/dist/trestle-bridge.js")
        let package = try TestPackage(files, head: head)
        let installed = try run.command("install", "--key", "\(TestPackage.key.publicKey)", package.file)
        try #require(installed.end == .exited(0), "\(installed.errors)")
        try run.start("--profile", "notes", "\(origin)/index.html")
    }

    @Test("a page gets files that its package lacks from the network, on its own session")
    func network() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            try await Self.provide(run.bridge)
            try Self.start(
                run,
                """
                (async () => {
                    const answer = await fetch("/api/list?q=1#x", { headers: { "X-Mine": "1" } });
                    report({
                        text: await answer.text(), own: answer.headers.get("x-own"),
                        refresh: answer.headers.get("refresh"),
                        type: answer.headers.get("content-type"), file: await text("file.txt"),
                        cut: await text("/api/cut"), path: await text("/api/..%2fadmin"),
                    });
                })();
                """, others: ["file.txt": "the package's"])
            let report = try await run.report()
            #expect(
                report.value == [
                    "text": .string("GET \(Self.network)/api/list?q=1 \(Self.origin)   true"), "own": "1",
                    "refresh": nil, "type": "text/plain", "file": "the package's", "cut": "TypeError", "path": "404",
                ])
        }
    }

    @Test("bodies arrive whole by fetch and XMLHttpRequest: texts, buffers, forms, blobs, files and long ones")
    func bodies() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            try await Self.provide(run.bridge)
            try Self.start(
                run,
                """
                const send = (method, body) => new Promise((done) => {
                    const request = new XMLHttpRequest();
                    request.open(method, "/api/x");
                    request.onloadend = () => done(request.responseText || String(request.status));
                    request.send(body);
                });
                (async () => {
                    const post = (body) => text("/api/x", { method: "POST", body });
                    const form = new FormData();
                    form.append("file", new File(["abc"], "a.txt"));
                    const blob = new Blob(["abc"], { type: "text/x-blob" });
                    report([
                        await post("abc"), await post(new Uint8Array([1, 2, 3])),
                        await post(new URLSearchParams({ a: "b" })),
                        await post(blob), (await post(form)).split(" ").slice(0, 4).join(" "),
                        await text(new Request("/api/x", { method: "PUT", body: blob })), await post(undefined),
                        await post(new Uint8Array(500000)), await send("PUT", "abc"), await send("POST", blob),
                        (await send("POST", form)).split(" ").slice(0, 4).join(" "),
                    ]);
                })();
                """)
            let asked = "\(Self.network)/api/x \(Self.origin)"
            #expect(
                try await run.report().value == [
                    .string("POST \(asked) text/plain YWJj false"), .string("POST \(asked)  AQID false"),
                    .string("POST \(asked) application/x-www-form-urlencoded YT1i false"),
                    .string("POST \(asked) text/x-blob YWJj false"), .string("POST \(asked) multipart/form-data"),
                    .string("PUT \(asked) text/x-blob YWJj false"), .string("POST \(asked)   false"),
                    .string("POST \(asked)  500000 bytes false"), .string("PUT \(asked) text/plain YWJj false"),
                    .string("POST \(asked) text/x-blob YWJj false"), .string("POST \(asked) multipart/form-data"),
                ])
        }
    }

    @Test(
        "a blob that avoids the shim through a frame is refused, and so is a request that the manifest does not accept")
    func unread() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            try await Self.provide(run.bridge)
            try Self.start(
                run,
                """
                addEventListener("load", async () => {
                    const frame = document.createElement("iframe");
                    frame.src = "frame.html";
                    const loaded = new Promise((done) => { frame.onload = done; });
                    document.body.append(frame);
                    await loaded;
                    const fromFrame = frame.contentWindow.fetch;
                    const around = await fromFrame("/api/x", { method: "POST", body: new Blob(["x"]) });
                    report({
                        around: around.status, other: await text("/api/x", { method: "DELETE" }),
                        path: await text("/apis", { method: "POST", body: new Blob(["x"]) }),
                        cookie: document.cookie,
                    });
                });
                """, others: ["frame.html": "<!doctype html><p>frame"])
            #expect(try await run.report().value == ["around": 415, "other": "405", "path": "405", "cookie": ""])
        }
    }

    @Test("a document never comes from the network: a request for one is answered with 404")
    func documents() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            try await Self.provide(run.bridge)
            try Self.start(
                run, "(async () => report(await text('/api/page', { headers: { Accept: 'text/html' } })))();")
            #expect(try await run.report().value == "404")
        }
    }

    @Test("without a rule that allows fetching, requests to the network fail") func denied() async throws {
        let rules = { (_: [String]) in
            "[[rule]]\nallow = \"call\"\nnames = \"test.report\"\norigin = \"\(Self.origin)\""
        }
        try await WebRun.with(rules: rules) { run in
            try await Self.provide(run.bridge)
            try Self.start(
                run,
                "(async () => report([await text('/api/x'), await text('/api/x', { method: 'POST', body: 'x' })]))();")
            #expect(try await run.report().value == ["TypeError", "TypeError"])
        }
    }
}
