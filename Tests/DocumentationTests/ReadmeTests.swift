import BridgeJSON
import Foundation
import TestSupport
import Testing

// Serialized, because the tests block their thread while a daemon and a client work.
@Suite("README.md", .serialized)
struct ReadmeTests {
    /// The folder of the programs on the page. The tests have their own.
    private static let buildFolder = "$PWD/.build/release"
    /// The socket on the page. The daemon of the tests has another one.
    private static let socketPath = "/tmp/trestle/bridge.sock"

    @Test("The example for the shell works as pasted", .enabled(if: Program.exists("socat")))
    func socat() throws {
        #expect(try run("sh") { $0.contains("socat") } == #"{"callbackId":1,"result":{"hello":"world"}}"# + "\n")
    }

    @Test("The example for the command line works as pasted")
    func commandLine() throws {
        let printed = try run("sh") { $0.hasPrefix("trestle call ") }
        #expect(try JSON(parsing: printed) == ["hello": "world"])
    }

    @Test("The example in Python works as pasted", .enabled(if: Program.exists("python3")))
    func python() throws {
        #expect(try run("python") { $0.contains("trestle_bridge") } == "{'hello': 'world'}\n")
    }

    @Test("The first example of the JavaScript client works as pasted", .enabled(if: Program.exists("node")))
    func node() throws {
        let block = try #require(try Page("Clients/JavaScript/README.md").blocks.first { $0.info == "js" })
        let daemon = try DaemonProcess()
        #expect(try Program.node(block.text, ["TRESTLE_SOCKET": daemon.socketPath]) == "{ hello: 'world' }\n")
    }

    @Test("The example for a web page works as pasted", .enabled(if: Program.exists("node")))
    func page() throws {
        let block = try #require(try Page("README.md").blocks.first { $0.info == "html" })
        let script = try #require(block.text.split(separator: "<script>").last?.split(separator: "</script>").first)
        let daemon = try DaemonProcess()
        let around = """
            import { WebBridge } from "trestle-bridge";
            const received = new Promise((resolve) => {
                const log = console.log;
                console.log = (answer) => resolve(log(answer));
            });
            globalThis.WebBridge = WebBridge;
            \(script)
            await received;
            await WebBridge.close();
            """
        #expect(try Program.node(around, ["TRESTLE_SOCKET": daemon.socketPath]) == "{ hello: 'world' }\n")
    }

    @Test("The page about the plugins' tasks lists the plugins of a build, and names those of the examples")
    func plugins() throws {
        let beginning = try Page("docs/plugin-tasks.md").lines.prefix { !$0.hasPrefix("## ") }
        let listed = beginning.compactMap { $0.firstMatch(of: /^\| \[(.+?)\]/)?.1.lowercased() }
        let daemon = try DaemonProcess()
        let plugins = try Program.run(
            [DaemonProcess.buildFolder.appending(path: "trestle").path(percentEncoded: false), "plugins"],
            ["TRESTLE_SOCKET": daemon.socketPath])
        let offered = try plugins.split(separator: "\n")
            .compactMap { try JSON(parsing: String($0))["name"]?.stringValue }
        #expect(Set(offered) == Set(listed + ["counter", "sysinfo"]))
        for example in ["[Counter]", "[Sysinfo]"] { #expect(beginning.contains { $0.contains(example) }) }
    }

    @Test("The task on the page is the one of the example package")
    func greet() throws {
        let block = try #require(try Page("README.md").blocks.first { $0.info == "swift" })
        let source = try String(
            contentsOf: Page.root.appending(path: "Examples/Greeter/Sources/GreeterPlugin/Greet.swift"), encoding: .utf8
        )
        #expect(source == block.text + "\n")
    }

    /// Runs a block of the page with the daemon of the test. Returns its output.
    private func run(_ language: String, _ isWanted: (String) -> Bool) throws -> String {
        let blocks = try Page("README.md").blocks
        let block = try #require(blocks.first { $0.info == language && isWanted($0.text) })
        let daemon = try DaemonProcess()
        let setting = try #require(blocks.first { $0.info == "sh" && $0.text.hasPrefix("export PATH=") }).text
        #expect(setting.contains(Self.buildFolder) && setting.contains(Self.socketPath))
        let set = setting.replacing(Self.socketPath, with: daemon.socketPath)
            .replacing(Self.buildFolder, with: DaemonProcess.buildFolder.path(percentEncoded: false))
        // The `export` line of the page sets the variables for the shell and for the programs started from it.
        let around = ["TRESTLE_SOCKET": try Program.run(["sh", "-c", set + "\nprintf %s \"$TRESTLE_SOCKET\""])]
        let script = block.text
        switch language {
        case "python":
            let library = Page.root.appending(path: "Clients/Python").path(percentEncoded: false)
            return try Program.run(["python3", "-c", script], around.merging(["PYTHONPATH": library]) { $1 })
        default: return try Program.run(["sh", "-c", "\(set)\n\(script)"])
        }
    }
}

/// Programs that pages ask their readers to run.
enum Program {
    static func exists(_ name: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }

    /// Runs a module in a folder in which this checkout's JavaScript package is installed.
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

    /// Runs a command line that must exit with 0. Returns its output.
    static func run(_ command: [String], _ environment: [String: String] = [:]) throws -> String {
        let inherited = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let run = try TestSupport.run(
            "/usr/bin/env", command, environment: inherited.map { "\($0.key)=\($0.value)" }, timeout: .seconds(300))
        guard run.end == .exited(0) else { throw TestFailure("\(command) ended with \(run.end):\n\(run.errors)") }
        return run.output
    }
}
