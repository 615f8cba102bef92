import BridgeJSON
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Files that plugins in Swift send as streams", .blocking)
struct FileStreamTests {
    /// Makes the plugin send a file, and returns the answer.
    private func send(_ path: String, opens: Bool = false, _ client: Wire) throws -> JSON {
        try client.call("fixture.file", ["path": .string(path), "opens": .bool(opens)])
    }

    private func text(_ count: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz".utf8)
        return String(decoding: (0..<count).map { letters[($0 &* 7 &+ $0 >> 9) % letters.count] }, as: UTF8.self)
    }

    @Test(
        "A file has the same bytes as a stream, by its path and by its descriptor",
        arguments: ["none", "process"], [false, true])
    func whole(isolation: String, opens: Bool) throws {
        try withFixture(isolation) { folder, _, client in
            for count in [0, 1, 65_536, 1_000_003] {
                let path = try folder.write(text(count), to: "file")
                let stream = try send(path, opens: opens, client)["result"]?["photo"] ?? .null
                let (bytes, end) = try client.read(stream)
                #expect(bytes == Array(text(count).utf8))
                #expect(end["result"] == ["end": true, "bytes": .number(JSONNumber(count))])
            }
        }
    }

    @Test("The reader learns the type and the size of the file", arguments: ["none", "process"])
    func described(isolation: String) throws {
        try withFixture(isolation) { folder, _, client in
            let path = try folder.write(text(100_000), to: "file")
            let stream = try send(path, client)["result"]?["photo"] ?? .null
            let first = try client.result("bridge.stream.read", ["stream": stream])
            #expect(first["type"] == "image/png" && first["totalBytes"] == 100_000)
        }
    }

    @Test(
        "A file that is missing, a folder and a pipe are refused, and no stream is left",
        arguments: ["none", "process"], [false, true])
    func refused(isolation: String, opens: Bool) throws {
        try withFixture(isolation) { folder, _, client in
            mkfifo(folder.file("pipe"), 0o600)
            mkdir(folder.file("folder"), 0o700)
            // Opening the pipe in the plugin's own code would wait for its other end.
            let names = opens ? ["missing", "folder"] : ["missing", "folder", "pipe"]
            for name in names {
                let error = try send(folder.file(name), opens: opens, client)["error"]
                #expect(error?["code"] == "internal")
                let reason = name == "missing" ? "cannot be read" : "is not a regular file"
                #expect(error?["message"]?.stringValue?.contains(reason) == true, "\(name): \(error ?? .null)")
            }
            let status = try client.result("bridge.status")
            #expect(status["streams"] == 0)
        }
    }

    @Test(
        "A file that becomes shorter breaks the stream; the error does not name its path",
        arguments: ["none", "process"])
    func shorter(isolation: String) throws {
        try withFixture(isolation) { folder, _, client in
            let path = try folder.write(text(8_000_000), to: "secret")
            let stream = try send(path, client)["result"]?["photo"] ?? .null
            // More than the plugin, its pipe and the daemon hold at this time.
            truncate(path, 4_000_000)
            let (bytes, end) = try client.read(stream)
            #expect(bytes.count <= 4_000_000 && bytes == Array(text(bytes.count).utf8))
            let error = end["error"]
            #expect(error?["code"] == "stream.closed" && error?["data"]?["error"]?["code"] == "internal")
            #expect(error?.text.contains("shorter than 8000000 bytes") == true)
            #expect(error?.text.contains("secret") == false)
        }
    }

    @Test("Bytes that are appended after the answer are not sent", arguments: ["none", "process"])
    func longer(isolation: String) throws {
        try withFixture(isolation) { folder, _, client in
            let path = try folder.write(text(1_000_000), to: "file")
            let stream = try send(path, client)["result"]?["photo"] ?? .null
            let file = open(path, O_WRONLY | O_APPEND)
            defer { close(file) }
            #expect(write(file, "more", 4) == 4)
            let (bytes, _) = try client.read(stream)
            #expect(bytes.count == 1_000_000)
        }
    }

    @Test("The plugin closes each file, also if its reader leaves", arguments: ["none", "process"])
    func closed(isolation: String) throws {
        try withFixture(isolation) { folder, _, client in
            let path = try folder.write(text(1_000_000), to: "file")
            let other = folder.file("folder")
            mkdir(other, 0o700)
            for round in 0..<20 {
                let stream = try send(path, opens: round % 2 == 0, client)["result"]?["photo"] ?? .null
                if round % 4 < 2 {
                    #expect(try client.read(stream).bytes.count == 1_000_000)
                } else {
                    _ = try client.result("bridge.stream.close", ["stream": stream])
                }
            }
            _ = try send(other, opens: true, client)
            // The plugin closes its file after the reader has left. Calls take turns of its loop meanwhile.
            while try isOpen(path) || isOpen(other) { _ = try client.result("bridge.ping") }
        }
    }

    /// Returns whether a process other than this one has a file open.
    private func isOpen(_ path: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter {
            Int32($0).map { $0 != getpid() } ?? false
        }
        .contains { process in
            // The process may have ended, and those of other users cannot be read.
            let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
            return files.contains { file in
                path == (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(file)"))
            }
        }
    }
}
