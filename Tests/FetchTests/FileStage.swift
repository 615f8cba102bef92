import Glibc
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

/// A bridge whose plugin runs as a user other than root, with one folder for files and one outside it.
struct FileStage {
    static let owner: UInt32 = 1000

    let bridge: TestBridge
    let session: TestSession
    let folder: TemporaryFolder

    /// - Parameters:
    ///   - owner: The user that the plugin runs as.
    ///   - isOn: Whether the setting names the folder.
    static func with(
        owner: UInt32 = owner, isOn: Bool = true, _ body: (FileStage) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        mkdir(folder.file("in"), 0o755)
        mkdir(folder.file("out"), 0o755)
        let section: JSON = [
            "private_networks": ["127.0.0.0/8"], "download_dirs": isOn ? [.string(folder.file("in"))] : [],
        ]
        let bridge = try await TestBridge.start(
            .fetch(FetchService(owner: owner)), Plugin("door", version: "1.0.0") { Door() },
            configuration: ["fetch": section], daemonUID: Self.owner)
        let stage = FileStage(bridge: bridge, session: await bridge.session(uid: Self.owner), folder: folder)
        do { try await body(stage) } catch {
            await bridge.stop()
            throw error
        }
        await bridge.stop()
    }

    func path(_ name: String) -> String { folder.file("in/\(name)") }

    // MARK: Fetching

    func options(_ url: JSON, to name: String, _ more: JSONObject = [:]) -> JSON {
        var options: JSONObject = ["url": url, "as": "file", "saveTo": .string(path(name))]
        for (key, value) in more { options[key] = value }
        return .object(options)
    }

    func save(_ url: JSON, to name: String, _ more: JSONObject = [:]) async throws -> JSON {
        try await session.call("http.fetch", options(url, to: name, more))
    }

    func refusal(_ options: JSON) async -> BridgeError? {
        await #expect(throws: BridgeError.self) { try await session.call("http.fetch", options) }
    }

    func refusal(_ url: JSON, to name: String, _ more: JSONObject = [:]) async -> BridgeError? {
        await refusal(options(url, to: name, more))
    }

    /// Returns the requests that a server has received.
    func seen(_ server: ScriptedServer) async throws -> [JSON] {
        let result = try await session.call("http.fetch", ["url": server.url("/_seen"), "as": "stream"])
        let bytes = try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
        return try JSON(parsing: bytes).arrayValue?.filter { $0["line"] != "GET /_seen HTTP/1.1" } ?? []
    }

    // MARK: Files

    /// The names of the files in the folder.
    var names: [String] { Self.names(in: path("")) }

    static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
