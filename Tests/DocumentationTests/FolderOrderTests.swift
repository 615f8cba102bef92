import Foundation
import Testing

/// An order of folders: a file may refer to types of its own folder and of the folders below.
private struct FolderOrder {
    /// The folder that contains the folders.
    let path: String
    /// The folders from the lowest to the highest.
    let folders: [String]
    /// The files beside the folders. They assemble the folders and may refer to all of them.
    let besides: Set<String>

    /// A source file, with its path relative to `path`.
    struct Source {
        let file: String
        let text: String
    }

    /// Returns the violations, as sentences.
    func complaints(about sources: [Source]) -> [String] {
        var declarations: [String: Int] = [:]
        for source in sources {
            guard let rank = rank(of: source.file) else { continue }
            for name in Self.declaredTypes(in: source.text) { declarations[name] = rank }
        }
        return sources.flatMap { source -> [String] in
            if let rank = rank(of: source.file) { return complaints(about: source, rank, declarations) }
            if besides.contains(source.file) { return [] }
            return ["\(path)/\(source.file): this file is in none of the folders \(folders.joined(separator: ", "))."]
        }
    }

    private func complaints(about source: Source, _ rank: Int, _ declarations: [String: Int]) -> [String] {
        source.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { number, line in
            Self.typeNames(in: line).compactMap { name in
                guard let other = declarations[name], other > rank else { return nil }
                return """
                    \(path)/\(source.file):\(number + 1): \(name) is declared in \(folders[other]), which lies above \
                    \(folders[rank]). Move one of the two, or let \(folders[rank]) take what it needs as a closure, or \
                    by a protocol of its own.
                    """
            }
        }
    }

    private func rank(of file: String) -> Int? {
        folders.firstIndex { file.hasPrefix($0 + "/") }
    }

    /// Returns the types that other files can refer to by a simple name.
    private static func declaredTypes(in text: String) -> [String] {
        let declaration = /^(?:(?:public|package|final|indirect) )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/
        return text.matches(of: declaration.anchorsMatchLineEndings()).map { String($0.output.1) }
    }

    /// Returns the possible type names in a line of code, without its comment and its strings.
    private static func typeNames(in line: Substring) -> Set<String> {
        let code = line.replacing(/"(\\.|[^"\\])*"/, with: "").replacing(/\/\/.*/, with: "")
        return Set(code.matches(of: /\w+/).map { String($0.output) }.filter { $0.first?.isUppercase == true })
    }
}

@Suite("Ordered folders use only the folders below them")
struct FolderOrderTests {
    private static let orders = [
        FolderOrder(
            path: "Plugins/Persistence/Tasks", folders: ["Store", "Query", "Watch", "Batch", "Copies", "Calls"],
            besides: ["Persistence.swift", "DaemonSink.swift"]),
        FolderOrder(
            path: "Plugins/Cookies/Tasks", folders: ["Store", "Formats", "Sync", "Tasks"],
            besides: ["Cookies.swift", "CookiesConfiguration.swift", "CookiesMetrics.swift"]),
        FolderOrder(
            path: "Plugins/Fetch/Tasks",
            folders: ["Data", "Bodies", "Transport", "Loading", "Cache", "Packages", "Replay", "Files", "Tasks"],
            besides: [
                "Fetch.swift", "FetchConfiguration.swift", "FetchErrors.swift", "FetchMetrics.swift",
                "ParameterSection.swift", "ServerSections.swift", "WallClock.swift",
            ]),
        FolderOrder(
            path: "Plugins/Login/Tasks", folders: ["Hashing", "Accounts", "Tasks"],
            besides: [
                "LockOut.swift", "Login.swift", "LoginAttempts.swift", "LoginConfiguration.swift", "LoginMetrics.swift",
                "LoginService.swift", "SessionTokens.swift", "Token.swift",
            ]),
        FolderOrder(
            path: "Sources/BridgeJSON", folders: ["Values", "Coding", "Schemas"],
            besides: ["BridgeError.swift", "CutText.swift", "Suggestion.swift", "Timeout.swift"]),
        FolderOrder(
            path: "Sources/OfflinePackages", folders: ["Format", "Files", "Archive", "Store"], besides: []),
        FolderOrder(
            path: "Sources/BridgeMessage", folders: ["Wire", "Messages", "Encoding", "Dialects", "Decoding"],
            besides: ["BridgeMessage.swift"]),
        FolderOrder(
            path: "Sources/BridgeClient",
            folders: ["Connection", "Reconnecting", "Calls", "Events", "Providing", "Streams"],
            besides: [
                "Bridge.swift", "ClientErrors.swift", "ClientSession.swift", "Configuration.swift", "DaemonInfo.swift",
            ]),
        FolderOrder(
            path: "Sources/trestled",
            folders: [
                "Problems", "Service", "Policy", "Handover", "Configuration", "Log", "Plugins", "Launch", "Reload",
            ],
            besides: [
                "Daemon.swift", "ExitStatus.swift", "ProcessReading.swift", "ShutdownSignals.swift", "Trestled.swift",
            ]),
        FolderOrder(
            path: "Sources/TaskRuntime",
            folders: [
                "Policy", "Model", "Launch", "Turns", "Sessions", "Gate", "Tasks", "Output", "Monitoring", "Events",
                "Calls", "Streams", "Clients", "Plugins", "Lifecycle", "Routing", "BridgeTasks",
            ],
            besides: [
                "ManualRuntimeClock.swift", "RuntimeComponents.swift", "TaskRuntime.swift", "TaskRuntime-plugins.swift",
                "TaskRuntime-sessions.swift",
            ]),
        FolderOrder(
            path: "Sources/TaskHosts", folders: ["InProcess", "Processes"],
            besides: [
                "HostLog.swift", "PluginHandover.swift", "PluginLoader.swift", "PluginReplacement.swift",
                "PluginSections.swift",
            ]),
        FolderOrder(
            path: "Sources/trestle",
            folders: [
                "SessionBus", "Output", "Files", "Connection", "Describing", "Input", "Streams", "Fetching", "Running",
                "Watching", "Recording", "Conformance", "Presenting", "Generating", "Plugins", "Commands",
            ], besides: ["Trestle.swift"]),
    ]

    @Test("No file refers to a type of a folder above its own")
    func sources() throws {
        for order in Self.orders {
            let walk = FileManager.default.enumerator(atPath: Page.root.appending(path: order.path).path)
            let files = try #require(walk).compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
            let sources = try files.map { file in
                FolderOrder.Source(
                    file: file, text: try Page("\(order.path)/\(file)").lines.joined(separator: "\n"))
            }
            for folder in order.folders {
                #expect(files.contains { $0.hasPrefix(folder + "/") }, "\(order.path) has no folder \(folder)")
            }
            for complaint in order.complaints(about: sources) { Issue.record("\(complaint)") }
        }
    }

    @Test("The checker finds references upwards, but ignores comments, strings and private types")
    func checker() {
        let order = FolderOrder(path: "P", folders: ["Low", "High"], besides: ["P.swift"])
        let complaints = order.complaints(about: [
            .init(
                file: "Low/a.swift",
                text: "struct Low {}\n// High\nlet a = \"High\"\nlet b = [x.High.self]\nlet c = Hidden()"),
            .init(file: "High/b.swift", text: "final class High {\n  let low: Low\n}\nprivate struct Hidden {}"),
            .init(file: "P.swift", text: "let a = High()"),
            .init(file: "loose.swift", text: ""),
        ])
        #expect(complaints.count == 2)
        #expect(complaints.first?.hasPrefix("P/Low/a.swift:4: High is declared in High, which lies above Low.") == true)
        #expect(complaints.last == "P/loose.swift: this file is in none of the folders Low, High.")
    }
}
