import Glibc
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite("Bodies in files", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct FileBodyTests {
    // MARK: Saving

    @Test("A body is saved whole and decoded with mode 0600, and the result has its path, length and hash")
    func saved() async throws {
        let server = try ScriptedServer([
            "/": Script.response("abc"), "/none": Script.response(""),
            "/coded": [
                ["send": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"],
                ["gzip": "0123456789", "times": 100_000], ["close": true],
            ],
        ])
        try await FileStage.with { stage in
            mkdir(stage.path("deep"), 0o755)
            let result = try await stage.save(server.url("/"), to: "deep/a")
            #expect(
                result["body"] == [
                    "file": [
                        "path": .string(stage.path("deep/a")), "bytes": 3,
                        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                    ]
                ])
            #expect(result["bytes"] == ["wire": 3, "decoded": 3])
            #expect(contents(of: stage.path("deep/a")) == "abc")
            var status = stat()
            #expect(lstat(stage.path("deep/a"), &status) == 0 && status.st_mode & 0o7777 == 0o600)
            #expect(FileStage.names(in: stage.path("deep")) == ["a"])
            _ = try await stage.save(server.url("/none"), to: "none")
            #expect(exists(stage.path("none")) && contents(of: stage.path("none")) == "")
            _ = try await stage.save(server.url("/coded"), to: "coded")
            #expect(contents(of: stage.path("coded")).utf8.count == 1_000_000)
        }
    }

    @Test("An existing file is kept, unless replace is set")
    func existing() async throws {
        let server = try ScriptedServer(["/": Script.response("new")])
        try await FileStage.with { stage in
            try stage.folder.write("old", to: "in/a")
            let error = await stage.refusal(server.url("/"), to: "a")
            #expect(error?.code == "http.file" && error?.data?["reason"] == "exists")
            #expect(contents(of: stage.path("a")) == "old")
            _ = try await stage.save(server.url("/"), to: "a", ["replace": true])
            #expect(contents(of: stage.path("a")) == "new")
            #expect(stage.names == ["a"])
        }
    }

    @Test("A file that is created during the transfer is kept, too")
    func race() async throws {
        let server = try ScriptedServer([
            "/": [["send": "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"], ["wait": "/go"], ["send": "def"]],
            "/started": [["wait": "/"], ["send": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]],
            "/go": Script.response(""),
        ])
        try await FileStage.with { stage in
            let call = await stage.session.begin("http.fetch", stage.options(server.url("/"), to: "a"))
            _ = try await stage.session.call("http.fetch", ["url": server.url("/started")])
            try stage.folder.write("other", to: "in/a")
            _ = try await stage.session.call("http.fetch", ["url": server.url("/go")])
            let error = await #expect(throws: BridgeError.self) { try await stage.session.outcome(of: call) }
            #expect(error?.data?["reason"] == "exists")
            #expect(contents(of: stage.path("a")) == "other")
            #expect(stage.names == ["a"])
        }
    }

    @Test("Only a response with a status from 200 to 299 is saved; another body is returned as with auto")
    func status() async throws {
        let server = try ScriptedServer(["/": Script.response("gone", status: "404 Not Found")])
        try await FileStage.with { stage in
            try stage.folder.write("old", to: "in/a")
            let result = try await stage.save(server.url("/"), to: "a", ["replace": true])
            #expect(result["status"] == 404 && result["body"]?["base64"] == "Z29uZQ==")
            #expect(contents(of: stage.path("a")) == "old")
        }
    }

    @Test("No file is left if the body is cut, too long or has a wrong hash", arguments: ["/cut", "/long", "/hash"])
    func incomplete(path: String) async throws {
        let server = try ScriptedServer([
            "/cut": Script.raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
            "/long": Script.response(String(repeating: "a", count: 1000)), "/hash": Script.response("abc"),
        ])
        let more: [String: JSONObject] = [
            "/long": ["maxBytes": 10], "/hash": ["integrity": "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
        ]
        try await FileStage.with { stage in
            let error = await stage.refusal(server.url(path), to: "a", more[path] ?? [:])
            let codes: [String: ErrorCode] = [
                "/cut": "http.interrupted", "/long": "http.too_large", "/hash": "http.integrity",
            ]
            #expect(error?.code == codes[path])
            // The file is removed on another thread, before the plugin has stopped.
            await stage.bridge.stop()
            #expect(!exists(stage.path("a")))
        }
    }

    // MARK: Attacks

    @Test("No symbolic link below the folder is followed, neither as a folder nor as the file")
    func links() async throws {
        let server = try ScriptedServer(["/": Script.response("secret")])
        try await FileStage.with { stage in
            try stage.folder.write("kept", to: "out/b")
            symlink(stage.folder.file("out"), stage.path("link"))
            symlink(stage.folder.file("out/b"), stage.path("file"))
            symlink(stage.folder.file("out/new"), stage.path("dangling"))
            for name in ["link/a", "link/b", "file", "dangling", "link"] {
                for replaces in [true, false] {
                    let error = await stage.refusal(server.url("/"), to: name, ["replace": .bool(replaces)])
                    #expect(error?.code == "http.file" && error?.data?["reason"] == "kind", "\(name)")
                }
            }
            for name in ["link/b", "file"] {
                let error = await stage.refusal([
                    "url": server.url("/"), "method": "PUT", "body": ["file": .string(stage.path(name))],
                ])
                #expect(error?.data?["reason"] == "kind", "\(name)")
            }
            #expect(FileStage.names(in: stage.folder.file("out")) == ["b"])
            #expect(contents(of: stage.folder.file("out/b")) == "kept")
        }
    }

    @Test("A folder that is replaced by a link during the transfer still receives the file")
    func replacedFolder() async throws {
        let server = try ScriptedServer([
            "/": [["send": "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"], ["wait": "/go"], ["send": "def"]],
            "/started": [["wait": "/"], ["send": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]],
            "/go": Script.response(""),
        ])
        try await FileStage.with { stage in
            mkdir(stage.path("deep"), 0o755)
            let call = await stage.session.begin("http.fetch", stage.options(server.url("/"), to: "deep/a"))
            _ = try await stage.session.call("http.fetch", ["url": server.url("/started")])
            #expect(rename(stage.path("deep"), stage.path("moved")) == 0)
            symlink(stage.folder.file("out"), stage.path("deep"))
            _ = try await stage.session.call("http.fetch", ["url": server.url("/go")])
            #expect(try await stage.session.outcome(of: call)["body"]?["file"]?["bytes"] == 6)
            #expect(FileStage.names(in: stage.folder.file("out")) == [])
            #expect(contents(of: stage.path("moved/a")) == "abcdef")
        }
    }

    @Test("A path that leads outside the folder or is invalid is refused")
    func paths() async throws {
        let server = try ScriptedServer(["/": Script.response("a")])
        try await FileStage.with { stage in
            let inside = stage.folder.file("in")
            for path in [
                "\(inside)/../out/a", "\(inside)/./a", "\(inside)//a", "\(inside)/a/", inside, "\(inside)/",
                "\(inside)x/a", stage.folder.file("out/a"), "/etc/passwd", "a", "", "in/a", "\(inside)/a\0/../../out/a",
                "\(inside)/" + String(repeating: "a", count: 256),
                "\(inside)/" + String(repeating: "a/", count: 3000) + "a",
            ] {
                let saved = await stage.refusal(["url": server.url("/"), "as": "file", "saveTo": .string(path)])
                #expect(saved?.code == .optionsInvalid, "\(path)")
                let sent = await stage.refusal([
                    "url": server.url("/"), "method": "PUT", "body": ["file": .string(path)],
                ])
                #expect(sent?.code == .optionsInvalid, "\(path)")
            }
            for (name, reason) in [("missing/a", "not_found"), ("no/folder/a", "kind")] as [(String, JSON)] {
                try stage.folder.write("", to: "in/no")
                let error = await stage.refusal(server.url("/"), to: name)
                #expect(error?.code == "http.file" && error?.data?["reason"] == reason, "\(name)")
            }
            mkfifo(stage.path("fifo"), 0o600)
            for name in ["fifo", "."] + ["missing"] {
                let error = await stage.refusal([
                    "url": server.url("/"), "method": "PUT", "body": ["file": .string(stage.path(name))],
                ])
                #expect(error?.code == (name == "." ? .optionsInvalid : "http.file"), "\(name)")
            }
            #expect(FileStage.names(in: stage.folder.file("out")) == [])
            #expect(try await stage.seen(server).isEmpty)
        }
    }

    @Test("Options that contradict each other are refused")
    func options() async throws {
        try await FileStage.with { stage in
            let (url, path): (JSON, JSON) = ("http://127.0.0.1/", .string(stage.path("a")))
            for options: JSON in [
                ["url": url, "saveTo": path], ["url": url, "as": "file"], ["url": url, "as": "text", "saveTo": path],
                ["url": url, "replace": true], ["url": url, "as": "file", "saveTo": path, "respond": "headers"],
                ["url": url, "method": "PUT", "body": ["file": path, "text": "a"]],
                ["url": url, "method": "PUT", "body": ["file": path, "bytes": 1]],
                ["url": url, "method": "PUT", "body": ["file": 1]], ["url": url, "body": ["file": path]],
            ] {
                #expect(await stage.refusal(options)?.code == .optionsInvalid, "\(options)")
            }
        }
    }

    @Test("Files are refused to pages and other users, if the daemon runs as root, and without a folder")
    func callers() async throws {
        let server = try ScriptedServer(["/": Script.response("a")])
        for (owner, uid, origin, isOn) in [
            (FileStage.owner, FileStage.owner, "http://127.0.0.1:\(server.port)", true),
            (FileStage.owner, 0, nil, true),
            (0, 0, nil, true), (0, FileStage.owner, nil, true), (FileStage.owner, FileStage.owner, nil, false),
        ] as [(UInt32, UInt32, String?, Bool)] {
            try await FileStage.with(owner: owner, isOn: isOn) { stage in
                try stage.folder.write("secret", to: "in/b")
                let session = await stage.bridge.session(uid: uid, origin: origin)
                let task = origin == nil ? "http.fetch" : "door.fetch"
                for options: JSON in [
                    ["url": server.url("/"), "as": "file", "saveTo": .string(stage.path("a"))],
                    ["url": server.url("/"), "method": "PUT", "body": ["file": .string(stage.path("b"))]],
                ] {
                    let error = await #expect(throws: BridgeError.self) { try await session.call(task, options) }
                    #expect(error?.code == .permissionDenied, "\(owner) \(uid) \(origin ?? "") \(isOn)")
                }
                #expect(stage.names == ["b"])
                #expect(try await stage.seen(server).isEmpty)
            }
        }
    }

    @Test("System errors become errors with a code, a reason and a message")
    func errors() {
        for (code, expected, reason) in [
            (ENOSPC, "storage.full", nil), (EDQUOT, "storage.full", nil), (EIO, "storage.failed", nil),
            (EACCES, "http.file", "denied"), (EROFS, "http.file", "denied"), (EEXIST, "http.file", "exists"),
            (ENOENT, "http.file", "not_found"), (ENOTDIR, "http.file", "kind"), (ELOOP, "http.file", "kind"),
        ] as [(Int32, ErrorCode, JSON?)] {
            let error = BridgeError.file(code, "/a", "the file cannot be written")
            #expect(error.code == expected && error.data?["reason"] == reason, "\(code)")
            #expect(error.message.hasPrefix("/a: the file cannot be written: "))
        }
    }

    @Test("The setting accepts only absolute folders")
    func setting() throws {
        for path in ["a", "", "/", "/a/", "/a/../b", "//a", "/a\0"] {
            #expect(throws: JSONMismatch.self, "\(path)") {
                try FetchSettings(FetchConfiguration(downloadDirs: [path]))
            }
        }
        #expect(try FetchSettings(FetchConfiguration(downloadDirs: ["/srv/a"])).downloadFolders == ["/srv/a"])
    }

    // MARK: Sending

    @Test("A file can be the body of a request, with its length and its type")
    func sent() async throws {
        let server = try ScriptedServer(["/": Script.response("ok")])
        try await FileStage.with { stage in
            let long = String(repeating: "0123456789", count: 40_000)
            for (text, type) in [("", nil), ("abc", "text/x"), (long, nil)] as [(String, String?)] {
                try stage.folder.write(text, to: "in/a")
                var body: JSONObject = ["file": .string(stage.path("a"))]
                body["type"] = type.map { .string($0) }
                let result = try await stage.session.call(
                    "http.fetch", ["url": server.url("/"), "method": "PUT", "body": .object(body)])
                #expect(result["status"] == 200)
                let seen = try await stage.seen(server).last
                #expect(seen?["body"]?.stringValue == text)
                #expect(Fetching.header("content-length", of: seen) == "\(text.utf8.count)")
                #expect(Fetching.header("content-type", of: seen) == type)
            }
        }
    }
}
