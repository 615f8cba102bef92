import Foundation
import TaskKit
import TaskKitTesting
import Testing

@testable import FilesPlugin

@Test("The plugin passes its own check")
func conforms() throws {
    try makeFiles().check()
}

private let bytes = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

/// Writes a file with the plugin.
private func write(_ bytes: [UInt8], as name: String, _ bridge: PluginBridge) async throws -> JSON {
    let file = try await bridge.makeStream(bytes)
    return try await bridge.call("files.write", ["name": .string(name), "file": .string(file.name)])
}

private func read(_ name: String, _ bridge: PluginBridge) async throws -> [UInt8] {
    let result = try await bridge.call("files.read", ["name": .string(name)])
    return try await bridge.readStream(result["file"]?.stringValue ?? "")
}

@Test("A file is written and read as a stream, in each plugin environment", arguments: PluginEnvironment.all)
func whole(environment: PluginEnvironment) async throws {
    try await withPlugin(makeFiles(), in: environment) { bridge in
        for size in [0, 1, bytes.count] {
            let content = Array(bytes.prefix(size))
            #expect(try await write(content, as: "notes.bin", bridge) == ["bytes": .number(JSONNumber(size))])
            #expect(try await read("notes.bin", bridge) == content)
        }
        let files = try await bridge.call("files.list")["files"]?.arrayValue ?? []
        #expect(files.map { $0["name"] } == ["notes.bin"] && files.first?["bytes"] == 700_001)
        _ = try await bridge.call("files.remove", ["name": "notes.bin"])
        let error = await #expect(throws: BridgeError.self) { try await read("notes.bin", bridge) }
        #expect(error?.code == "files.not_found")
    }
}

@Test("Writing reports its progress", arguments: PluginEnvironment.all)
func progress(environment: PluginEnvironment) async throws {
    try await withPlugin(makeFiles(), in: environment) { bridge in
        let file = try await bridge.makeStream(bytes)
        let written = try await bridge.callWithProgress("files.write", ["name": "a", "file": .string(file.name)])
        #expect(written.result == ["bytes": 700_001])
        #expect(written.progress.last == ["bytes": 700_001])
    }
}

@Test("A write whose stream breaks keeps the previous file, and leaves no other file", arguments: PluginEnvironment.all)
func broken(environment: PluginEnvironment) async throws {
    try await withPlugin(makeFiles(), in: environment) { bridge in
        _ = try await write([1, 2, 3], as: "a", bridge)
        let stream = try await bridge.call("bridge.stream.new")["stream"] ?? .null
        let writing = Task { try await bridge.call("files.write", ["name": "a", "file": stream]) }
        _ = try await bridge.call("bridge.stream.write", ["stream": stream, "base64": "AAAA"])
        _ = try await bridge.call("bridge.stream.close", ["stream": stream, "error": ["code": "x", "message": "no"]])
        let error = await #expect(throws: BridgeError.self) { try await writing.value }
        #expect(error?.code == .streamClosed)
        #expect(try await read("a", bridge) == [1, 2, 3])
        #expect(try await bridge.call("files.list")["files"]?.arrayValue?.count == 1)
    }
}

@Test("A file that is too long is not written", arguments: PluginEnvironment.all)
func tooLong(environment: PluginEnvironment) async throws {
    try await withPlugin(makeFiles(), in: environment, configuration: ["file_bytes": 100]) { bridge in
        let error = await #expect(throws: BridgeError.self) { try await write(bytes, as: "a", bridge) }
        #expect(error?.code == "files.too_large" && error?.data == ["maximumBytes": 100])
        let list = try await bridge.call("files.list")
        #expect(list == ["files": []])
    }
}

@Test(
    "A name cannot lead out of the folder",
    arguments: [
        "", ".", "..", "../passwd", "/etc/passwd", "a/b", ".hidden", "a\u{0}b", String(repeating: "a", count: 256),
    ])
func names(name: String) async throws {
    try await withPlugin(makeFiles(), in: .isolated) { bridge in
        for task in ["files.read", "files.remove"] {
            let error = await #expect(throws: BridgeError.self) { try await bridge.call(task, ["name": .string(name)]) }
            #expect(error?.code == .optionsInvalid)
        }
    }
}

@Test("A link, a folder and a pipe are refused as files")
func noFiles() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "trestle-files-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder + "/folder", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    symlink("/etc/passwd", folder + "/link")
    mkfifo(folder + "/pipe", 0o600)
    try await withPlugin(makeFiles(), in: .isolated, configuration: ["folder": .string(folder)]) { bridge in
        for name in ["folder", "link", "pipe"] {
            let error = await #expect(throws: BridgeError.self) { try await read(name, bridge) }
            #expect(error?.code == "files.not_a_file", "\(name)")
        }
        let list = try await bridge.call("files.list")
        #expect(list == ["files": []])
    }
}

@Test(
    "A subscriber gets an event for each change, from the plugin or from another program",
    arguments: PluginEnvironment.all)
func changes(environment: PluginEnvironment) async throws {
    try await withPlugin(makeFiles(), in: environment) { bridge in
        let listener = try await bridge.session()
        try await listener.subscribe("files.changed")
        _ = try await write([1], as: "a", bridge)
        #expect(await listener.nextEvent().data == ["name": "a", "exists": true])
        _ = try await bridge.call("files.remove", ["name": "a"])
        #expect(await listener.nextEvent().data == ["name": "a", "exists": false])
    }
}
