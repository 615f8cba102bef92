import BridgeJSON
import Foundation
import Testing

// One after the other: they block the thread that they run on while a daemon and a client work.
@Suite("README.md", .serialized)
struct ReadmeTests {
    /// The socket that the page speaks of; the tests' daemon has another.
    private static let socketPath = "/tmp/trestle/bridge.sock"
    /// The folder of the programs that the page speaks of; the tests have their own.
    private static let buildFolder = ".build/release/"

    @Test("The shell's way of sending a message works as pasted", .enabled(if: Program.exists("socat")))
    func socat() throws {
        #expect(try run("sh") { $0.contains("socat") } == #"{"callbackId":1,"result":{"hello":"world"}}"# + "\n")
    }

    @Test("The command line's way of sending a message works as pasted")
    func commandLine() throws {
        let printed = try run("sh") { $0.contains("/trestle ") }
        #expect(try JSON(parsing: printed) == ["hello": "world"])
    }

    @Test("Python's way of sending a message works as pasted", .enabled(if: Program.exists("python3")))
    func python() throws {
        #expect(try run("python") { $0.contains("trestle_bridge") } == "{'hello': 'world'}\n")
    }

    @Test("Node's way of sending a message works as pasted", .enabled(if: Program.exists("node")))
    func node() throws {
        #expect(try run("js") { $0.contains("connect") } == "{ hello: 'world' }\n")
    }

    @Test("A page's way of sending a message works as pasted", .enabled(if: Program.exists("node")))
    func page() throws {
        let block = try #require(try Page("README.md").blocks.first { $0.info == "html" })
        let script = try #require(block.text.split(separator: "<script>").last?.split(separator: "</script>").first)
        let daemon = try DaemonProcess()
        let around = """
            import { WebBridge } from "trestle-bridge";
            const told = new Promise((resolve) => {
                const log = console.log;
                console.log = (answer) => resolve(log(answer));
            });
            globalThis.WebBridge = WebBridge;
            \(script)
            await told;
            await WebBridge.close();
            """
        #expect(try Program.node(around, ["TRESTLE_SOCKET": daemon.socketPath]) == "{ hello: 'world' }\n")
    }

    @Test("The task that the page shows is that of the example package")
    func greet() throws {
        let block = try #require(try Page("README.md").blocks.first { $0.info == "swift" })
        let source = try String(
            contentsOf: Page.root.appending(path: "Examples/Greeter/Sources/GreeterPlugin/Greet.swift"), encoding: .utf8
        )
        #expect(source == block.text + "\n")
    }

    /// Runs a block of the page, with the tests' own daemon, and returns what it printed.
    private func run(_ language: String, _ isWanted: (String) -> Bool) throws -> String {
        let blocks = try Page("README.md").blocks
        let block = try #require(blocks.first { $0.info == language && isWanted($0.text) })
        let daemon = try DaemonProcess()
        #expect(block.text.contains(Self.socketPath))
        let script = block.text.replacing(Self.socketPath, with: daemon.socketPath)
            .replacing(Self.buildFolder, with: DaemonProcess.buildFolder.path(percentEncoded: false))
        switch language {
        case "python":
            let library = Page.root.appending(path: "Clients/Python").path(percentEncoded: false)
            return try Program.run(["python3", "-c", script], ["PYTHONPATH": library])
        case "js": return try Program.node(script)
        default: return try Program.run(["sh", "-c", script])
        }
    }
}

/// Programs that pages tell their readers to use.
enum Program {
    static func exists(_ name: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }

    /// Runs a module in a folder where this checkout's package for JavaScript is installed.
    static func node(_ module: String, _ environment: [String: String] = [:]) throws -> String {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appending(path: "trestle-node-\(UUID().uuidString)")
        defer { try? files.removeItem(at: folder) }
        let packages = folder.appending(path: "node_modules")
        try files.createDirectory(at: packages, withIntermediateDirectories: true)
        try files.createSymbolicLink(
            at: packages.appending(path: "trestle-bridge"),
            withDestinationURL: Page.root.appending(path: "Clients/JavaScript"))
        let file = folder.appending(path: "script.mjs")
        try module.write(to: file, atomically: true, encoding: .utf8)
        return try run(["node", file.path(percentEncoded: false)], environment)
    }

    /// Runs a command line to its end, which must be a good one, and returns what it printed.
    static func run(_ command: [String], _ environment: [String: String] = [:]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("\(command) ended with status \(process.terminationStatus)")
        }
        return String(decoding: printed, as: UTF8.self)
    }
}
