import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Where a plugin of a test runs.
enum SpecimenKind: String, CaseIterable, CustomTestStringConvertible {
    case inProcess = "in the daemon"
    case isolated = "in a process of its own"
    case executable = "an executable"

    var testDescription: String { rawValue }

    /// What the daemon's configuration says of the plugin.
    var configuration: String {
        switch self {
        case .inProcess: "[plugins.specimen]\nisolation = \"none\""
        case .isolated, .executable: ""
        }
    }

    /// Writes the plugin `specimen`, whose task `specimen` answers with the version, and perhaps other tasks.
    ///
    /// - Parameter begins: whether it starts.
    @discardableResult
    func write(to folder: TemporaryFolder, version: String = "1", task: String = "specimen", begins: Bool = true) throws
        -> String
    {
        switch self {
        case .executable:
            var process = PluginInPython(
                call: "say({\"callbackId\": id, \"result\": \"\(version)\"})", version: version)
            if task != "specimen" { process.call = "pass" }
            process.settings = task == "specimen" ? "" : "[[tasks]]\nname = \"\(task)\"\nsummary = \"Another one.\""
            if !begins { process.start = "os._exit(1)" }
            try process.write(to: folder)
            return folder.file("specimen.plugin.toml")
        case .inProcess, .isolated:
            let failure = """
                host->fail(host, request->call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI,
                    .code = text("internal"), .message = text("no ink"), .retry_after_ns = -1});
                """
            let library = PluginInC(
                task: task, version: version, start: begins ? "" : failure,
                call: #"host->reply(host, request->call, text("\"\#(version)\""));"#)
            // What is loaded must not change under its feet: another file takes the name.
            try library.build(in: folder, as: "new")
            let path = folder.file("libspecimen.so")
            guard rename(folder.file("new"), path) == 0 else { throw TestFailure("\(path) cannot be replaced") }
            return path
        }
    }
}

extension Wire {
    /// The answer to a reload of the plugin `specimen`.
    func reloadSpecimen() throws -> JSON { try call("bridge.plugin.reload", ["name": "specimen"]) }

    /// The plugins of the daemon's table.
    func plugins() throws -> [JSON] { try result("bridge.plugins")["plugins"]?.arrayValue ?? [] }
}
