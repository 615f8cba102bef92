import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("trestle plugin dev", .blocking)
struct DevelopmentTests {
    /// `trestle plugin dev` of a folder, read line by line.
    private final class Development {
        let process: SpawnedProcess
        private let lines: SocketLineReader
        private let output: Int32
        private var isRead = true
        private(set) var said: [String] = []

        init(_ folder: String, _ options: [String] = [], environment: [String] = []) throws {
            let ends = try connectedPair()
            defer { close(ends.theirs) }
            output = ends.ours
            lines = SocketLineReader(output)
            process = try SpawnedProcess(
                Paths.program("trestle"), ["plugin", "dev", folder] + options, environment: environment,
                output: .descriptor(ends.theirs), errors: .descriptor(ends.theirs))
        }

        deinit { stopReading() }

        /// Stops reading the output of the process.
        func stopReading() {
            guard isRead else { return }
            isRead = false
            // A process that another test starts may hold the descriptor until its exec. Without the shutdown, writes
            // would still succeed.
            shutdown(output, Int32(SHUT_RDWR))
            close(output)
        }

        /// Reads until a line contains one of the texts, and returns this line.
        @discardableResult
        func says(_ texts: String...) throws -> String {
            while let line = try lines.line().map({ String(decoding: $0, as: UTF8.self) }) {
                said.append(line)
                if texts.contains(where: line.contains) { return line }
            }
            throw TestFailure("it did not say \(texts):\n\(said.joined(separator: "\n"))")
        }
    }

    private func new(_ language: String, in folder: TemporaryFolder) throws -> String {
        let path = folder.file("greet")
        let made = try run(
            Paths.program("trestle"), ["plugin", "new", "greet", "--language", language, "--directory", path])
        guard made.end == .exited(0) else { throw TestFailure(made.errors) }
        return path
    }

    private func edit(_ path: String, _ old: String, _ new: String, in folder: TemporaryFolder) throws {
        let text = contents(of: path)
        #expect(text.contains(old))
        try folder.write(text.replacing(old, with: new), to: String(path.dropFirst(folder.path.count + 1)))
    }

    private func call(_ socket: String, _ task: String, _ options: String) throws -> ProgramRun {
        try run(Paths.program("trestle"), ["--socket", socket, "call", task, options])
    }

    /// Returns the path of the socket that a line contains.
    private func socket(in line: String) throws -> String {
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "--socket") else { throw TestFailure("no socket: \(line)") }
        return String(words[index + 1])
    }

    @Test("It builds, runs and reloads on every save; after a failed build or start the previous version still runs")
    func developing() throws {
        let folder = try TemporaryFolder()
        let path = try new("c", in: folder)
        let source = path + "/greet.c"
        let development = try Development(path)
        let process = try development.says("Process ")
        try development.says("Running: greet 0.1.0")
        let pid = try #require(process.split(separator: " ").last.flatMap { pid_t($0) })
        #expect(process.hasPrefix("Process \(pid); a debugger: ") && process.hasSuffix(" -p \(pid)"))
        #expect(contents(of: "/proc/\(pid)/cmdline").contains("libGreetPlugin.so"))
        let line = try development.says("--socket ")
        #expect(line.hasSuffix(#"call greet '{"who":"sample"}'"#), "\(line)")
        let socket = try socket(in: line)
        try development.says("^C")
        #expect(try call(socket, "greet", "who=World").output == #"{"greeting":"Hello, World"}"# + "\n")
        try development.says(#"callback"#)

        try edit(source, "Hello", "Hi", in: folder)
        try development.says("Reloaded: greet")
        #expect(try call(socket, "greet", "who=World").output.contains("Hi"))

        try edit(source, "host->reply", "host->rply", in: folder)
        try development.says("The build failed")
        #expect(try call(socket, "greet", "who=World").output.contains("Hi"))

        // The plugin builds, but its interface version is not supported.
        try edit(source, "host->rply", "host->reply", in: folder)
        try development.says("Reloaded: greet")
        try edit(source, "TRESTLE_ABI,", "TRESTLE_ABI + 1,", in: folder)
        #expect(try development.says("Not reloaded").contains("version 3 of the plugin interface"))
        #expect(try call(socket, "greet", "who=World").output.contains("Hi"))

        // Mistakes of the plugin at runtime are shown as well.
        try edit(source, "TRESTLE_ABI + 1,", "TRESTLE_ABI,", in: folder)
        let reply = "    host->reply(host, request->call, (trestle_bytes){result, size});"
        try edit(source, reply, "\(reply) usleep(700000);\n\(reply)", in: folder)
        try edit(source, "#include <stdio.h>", "#include <stdio.h>\n#include <unistd.h>", in: folder)
        try development.says("Reloaded: greet")
        _ = try call(socket, "greet", "who=World")
        let warnings = [try development.says("warning: "), try development.says("warning: ")].sorted()
        #expect(warnings[0].contains("a reply was dropped: the process of the plugin greet answered a call twice"))
        #expect(warnings[1].hasPrefix("warning: greet held the plugin's thread for "), "\(warnings)")

        // Changed tasks take effect by a reload or in a new daemon.
        try edit(source, #"\"tasks\":[{\"name\":\"greet\""#, #"\"tasks\":[{\"name\":\"hail\""#, in: folder)
        try development.says("Running: greet", "Reloaded: greet")
        #expect(try call(socket, "hail", "who=World").output.contains("Hi"))

        development.process.signal(SIGINT)
        #expect(try development.process.wait() == .exited(130))
        #expect(!exists(socket))
    }

    @Test("A plugin process is not built, and its log lines are shown")
    func pluginProcess() throws {
        let folder = try TemporaryFolder()
        let path = try new("python", in: folder)
        let development = try Development(path)
        let socket = try socket(in: try development.says("--socket "))
        try edit(
            path + "/greet_plugin.py", "    return",
            #"    plugin.log.notice(f"for {options['who']}")"# + "\n    return",
            in: folder)
        try development.says("Reloaded: greet")
        #expect(try call(socket, "greet", "who=World").output == #"{"greeting":"Hello, World"}"# + "\n")
        try development.says("notice: for World")
        development.process.signal(SIGTERM)
        #expect(try development.process.wait() == .exited(143))
    }

    @Test("A plugin process with a Makefile is built before it starts and on every save; all its log levels are shown")
    func madePluginProcess() throws {
        let folder = try TemporaryFolder()
        let path = try new("python", in: folder)
        // The file in the repository is a source; the program that runs is made from it.
        try edit(path + "/greet.plugin.toml", "greet_plugin.py", "out/worker.py", in: folder)
        let makefile = "out/worker.py: greet_plugin.py\n\tmkdir -p out && cp greet_plugin.py out/worker.py\n"
        try folder.write(makefile, to: "greet/Makefile")
        let development = try Development(path)
        try development.says("Building: make")
        let socket = try socket(in: try development.says("--socket "))
        try edit(
            path + "/greet_plugin.py", "    return",
            #"    plugin.log.debug(f"for {options['who']}")"# + "\n    return", in: folder)
        // The output of make causes a reload as well: only the last reload counts.
        let deadline = Deadline()
        while !contents(of: path + "/out/worker.py").contains("debug"), !deadline.isOver {}
        while !development.said.contains(where: { $0.contains("debug: for World") }) {
            _ = try call(socket, "greet", "who=World")
            try development.says("callback", "debug: for World", "Reloaded")
        }
        development.process.signal(SIGTERM)
        #expect(try development.process.wait() == .exited(143))
    }

    @Test("A plugin that writes into its own folder is not reloaded in a loop: the file is named, saves still reload")
    func writesIntoItsFolder() throws {
        let folder = try TemporaryFolder()
        let path = try new("python", in: folder)
        try edit(
            path + "/greet_plugin.py", "if __name__",
            """
            import os, time
            with open(os.path.dirname(os.path.realpath(__file__)) + "/started.txt", "a") as file:
                file.write(f"{time.time()}\\n")

            if __name__
            """, in: folder)
        let development = try Development(path)
        let socket = try socket(in: try development.says("--socket "))
        #expect(try development.says("written by the plugin itself").contains("started.txt"))
        let before = contents(of: path + "/started.txt")
        try edit(path + "/greet_plugin.py", "Hello", "Hi", in: folder)
        try development.says("Reloaded: greet")
        #expect(try call(socket, "greet", "who=World").output == #"{"greeting":"Hi, World"}"# + "\n")
        #expect(contents(of: path + "/started.txt") != before)
        development.process.signal(SIGTERM)
        #expect(try development.process.wait() == .exited(143))
    }

    @Test("No files remain after its terminal closes or its output is no longer read")
    func left() throws {
        let folder = try TemporaryFolder()
        let path = try new("sh", in: folder)
        for (signal, options) in [(SIGHUP, []), (SIGPIPE, []), (SIGHUP, ["--listen", folder.file("s")])] {
            let development = try Development(path, options)
            let socket = try socket(in: try development.says("--socket "))
            // Without `--listen` the socket is in the temporary folder, which must be removed.
            let left = options.isEmpty ? String(socket.dropLast("/bridge.sock".count)) : socket
            #expect(exists(left))
            if signal == SIGHUP {
                development.process.signal(SIGHUP)
            } else {
                development.stopReading()
                // The call makes it write a line.
                _ = try call(socket, "greet", "who=World")
            }
            #expect(try development.process.wait() == .exited(128 + signal))
            #expect(!exists(left), "\(signal) \(options)")
        }
    }

    @Test("An invalid plugin is reported, and the next save tries again")
    func unusable() throws {
        let folder = try TemporaryFolder()
        let path = try new("sh", in: folder)
        try edit(path + "/greet.plugin.toml", "version", "verson", in: folder)
        let development = try Development(path)
        #expect(try development.says("Not run").contains("verson"))
        try edit(path + "/greet.plugin.toml", "verson", "version", in: folder)
        try development.says("Running: greet 0.1.0")
        development.process.signal(SIGINT)
        #expect(try development.process.wait() == .exited(130))
    }

    @Test("TaskKit is built once for all plugins in Swift, and each library is where a manual build puts it")
    func sharedBuild() throws {
        let folder = try TemporaryFolder()
        for name in ["alpha", "beta"] {
            let path = folder.file(name)
            let made = try run(Paths.program("trestle"), ["plugin", "new", name, "--directory", path])
            try #require(made.end == .exited(0), "\(made.errors)")
            let development = try Development(
                path, environment: ["HOME=\(folder.path)", "XDG_CACHE_HOME=\(folder.file("cache"))"])
            try development.says("Running: \(name) 0.1.0")
            let isBuilt = development.said.contains { $0.contains("Compiling") && $0.contains(" TaskKit ") }
            #expect(isBuilt == (name == "alpha"), "\(development.said.joined(separator: "\n"))")
            development.process.signal(SIGINT)
            #expect(try development.process.wait() == .exited(130))
            #expect(exists("\(path)/.build/debug/lib\(name.prefix(1).uppercased() + name.dropFirst())Plugin.so"))
        }
    }

    @Test("A folder without a plugin is refused, and the error names the files that it may contain")
    func unknown() throws {
        let folder = try TemporaryFolder()
        let refused = try run(Paths.program("trestle"), ["plugin", "dev", folder.path])
        #expect(refused.end == .exited(64) && refused.errors.contains("Package.swift"), "\(refused.errors)")
    }
}
