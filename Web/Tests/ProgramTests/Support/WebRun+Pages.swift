import BridgeClient
import BridgeJSON
import Glibc
import TestSupport
import Testing

extension WebRun {
    /// Starts trestle-web with a page of the first origin that reports `loaded`. Waits for the report, the end of the
    /// load and the container's tasks.
    ///
    /// - Parameters:
    ///   - profile: Lines of a profile to use; `nil` for none.
    ///   - arguments: Further arguments.
    func startPage(profile: String? = nil, _ arguments: String...) async throws {
        let origin = server.origins[0]
        try server.serve("page.html", script: "WebBridge.call('test.report', 'loaded');", body: "<p>text")
        var options = arguments
        if let profile {
            try write(profile: profile, named: "test")
            options += ["--profile", "test"]
        }
        try start(options + ["--bridge", origin, "\(origin)/page.html"])
        _ = try await report()
        try await awaitTasks()
        _ = try await evaluate(
            """
            if (document.readyState !== "complete") await new Promise((done) => addEventListener("load", done));
            await new Promise((done) => setTimeout(done));
            """, view: 1)
    }

    /// Runs the body of an async function in a page.
    func evaluate(_ script: String, view: Int? = nil) async throws -> JSON {
        var options: JSONObject = ["script": .string(script)]
        options["view"] = view.map { .number(JSONNumber(Int64($0))) }
        return try await bridge.call("web.evaluate", JSON.object(options), as: JSON.self)["result"] ?? JSON.null
    }

    /// Loads an address in the only page.
    func navigate(_ uri: String, finished: Bool = false) async throws -> JSON {
        try await bridge.call(
            "web.navigate", ["uri": .string(uri), "wait": finished ? "finished" : "committed"] as JSON, as: JSON.self)
    }

    /// Loads the page of `startPage` at another address, and waits until a copy of it is kept: the container has then
    /// checked that the page shows something.
    ///
    /// - Parameter events: A subscription to `web.kept`.
    func loadUntilKept(_ events: inout EventStream.AsyncIterator) async throws {
        let uri = "\(server.origins[0])/page.html?again"
        _ = try await navigate(uri)
        #expect(try await report().value == "loaded")
        // The start page may be copied first.
        while let event = try await events.next(), event.name != "web.kept" || event.data["uri"]?.stringValue != uri {}
    }

    /// Expects that a call fails with this error.
    func expect(_ task: String, _ options: JSON, _ code: ErrorCode) async {
        do {
            _ = try await bridge.call(task, options, as: JSON.self)
            Issue.record("\(task) \(options.text) has a result")
        } catch {
            #expect(error.code == code, "\(task) \(options.text): \(error.message)")
        }
    }

    /// Installs a program as the desktop's browser, which writes its argument into the returned pipe.
    func installBrowser() throws -> Pipe {
        let pipe = "\(homePath)/browser.pipe"
        guard mkfifo(pipe, 0o600) == 0 else { throw TestFailure("\(pipe) cannot be made") }
        // Opened for reading and writing, so that neither end waits for the other.
        let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
        let applications = "\(homePath)/.local/share/applications"
        for folder in ["\(homePath)/.local", "\(homePath)/.local/share", applications, "\(homePath)/.config"] {
            mkdir(folder, 0o700)
        }
        let script = "\(homePath)/browser"
        try Self.write("#!/bin/sh\necho \"$1\" > \(pipe)\n", to: script)
        chmod(script, 0o700)
        try Self.write(
            """
            [Desktop Entry]
            Type=Application
            Name=Browser
            Exec=\(script) %u
            MimeType=x-scheme-handler/http;
            """, to: "\(applications)/test-browser.desktop")
        try Self.write(
            "[Default Applications]\nx-scheme-handler/http=test-browser.desktop\n",
            to: "\(homePath)/.config/mimeapps.list")
        return Pipe(descriptor)
    }

    /// The read end of a named pipe.
    final class Pipe {
        private let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// Returns the next line, which must have been written in one piece.
        func line(_ deadline: Deadline = Deadline()) throws -> String {
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&state, 1, deadline.millisecondsLeft) > 0 else {
                throw TestFailure("nothing was written into the pipe")
            }
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = read(descriptor, &bytes, bytes.count)
            return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 0x0A }, as: UTF8.self)
        }
    }

    private static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw TestFailure("\(path) cannot be written") }
        fputs(text, file)
        fclose(file)
    }
}
