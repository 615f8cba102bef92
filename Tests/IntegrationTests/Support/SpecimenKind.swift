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

    /// The configuration of the plugin for this kind.
    var configuration: String {
        switch self {
        case .inProcess: "[plugins.specimen]\nisolation = \"none\""
        case .isolated, .executable: ""
        }
    }

    /// Writes the plugin `specimen`. Its task `specimen` answers with the version; another `task` replaces it in a
    /// library and is added to an executable.
    ///
    /// - Parameter begins: Whether the plugin starts.
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
            // The loaded file must not change: a new file replaces it by name.
            try library.build(in: folder, as: "new")
            let path = folder.file("libspecimen.so")
            guard rename(folder.file("new"), path) == 0 else { throw TestFailure("\(path) cannot be replaced") }
            return path
        }
    }
}

extension Wire {
    /// Reloads the plugin `specimen`. Returns the callback.
    func reloadSpecimen() throws -> JSON { try call("bridge.plugin.reload", ["name": "specimen"]) }

    /// Returns the plugins in the daemon's table.
    func plugins() throws -> [JSON] { try result("bridge.plugins")["plugins"]?.arrayValue ?? [] }
}
