import BridgeJSON
import BridgeMessage
import CTaskPlugin
import PluginInterface

// The first request of the daemon: loads the library and returns its manifest.
extension IsolatedPluginHost {
    func hello(_ id: UInt64, _ options: UnsafeRawBufferPointer) {
        guard plugin == nil else { return fail(id, BridgeError(.callDuplicate, "plugin.hello came before")) }
        let limits = (try? JSON(parsing: options))?["limits"]
        messageBytes = limits?["messageBytes"]?.int64Value.map(Int.init) ?? messageBytes
        do {
            let library = try PluginLibrary(path: path)
            guard var manifest = try JSON(parsing: library.manifest).objectValue else {
                return fail(id, BridgeError(.pluginUnavailable, "its manifest is not an object"))
            }
            manifest["protocol"] = ["name": .string(PluginProtocol.name), "version": .string(PluginProtocol.version)]
            // The loop thread answers pings independently of the plugin's own threads.
            manifest["ping"] = "always"
            let hearsSessions = library.table.pointee.session != nil
            manifest["sessions"] = hearsSessions && library.hearsOnlyCallers ? "callers" : .bool(hearsSessions)
            manifest["taskMarks"] = true
            note(manifest)
            guard interceptorNames.isEmpty || library.canIntercept else {
                let reason = "its manifest has interceptors, and its table lacks intercept"
                return fail(id, BridgeError(.pluginUnavailable, reason))
            }
            // Names with this prefix are reserved for requests of the daemon, and are looked up after the tasks.
            if let name = taskNames.first(where: { $0.starts(with: Self.lifecyclePrefix) }) {
                let reason =
                    "its task \(String(decoding: name, as: UTF8.self)) has a name that is reserved for the daemon"
                return fail(id, BridgeError(.pluginUnavailable, reason))
            }
            plugin = library
            library.table.pointee.attach(library.table.pointee.context, vtable)
            answer(id, JSON.object(manifest).text)
        } catch {
            fail(id, BridgeError(.pluginUnavailable, "\(error)"))
        }
    }

    private static let lifecyclePrefix = Array("plugin.".utf8)

    private func note(_ manifest: JSONObject) {
        taskNames = (manifest["tasks"]?.arrayValue ?? []).map { Array(($0["name"]?.stringValue ?? "").utf8) }
        working.begin(tasks: taskNames.count)
        names.note(taskNames.map { String(decoding: $0, as: UTF8.self) }, running: working.runningTasks)
        for (index, worker) in (manifest["launchWorkers"]?.arrayValue ?? []).enumerated() {
            launchIndices[worker["name"]?.stringValue ?? ""] = UInt32(index)
        }
        interceptorNames = (manifest["interceptors"]?.arrayValue ?? []).map { ($0["name"] ?? .null).bytes }
    }

    /// Stores the marks of the tasks that the daemon has sent.
    func takeMarks(_ data: UnsafeRawBufferPointer) {
        let marks = (try? JSON(parsing: data))?["marks"]
        taskMarks.set(
            taskNames.map { name in
                let names = marks?[String(decoding: name, as: UTF8.self)]?.arrayValue ?? []
                return names.reduce(0) { $0 | (Self.marks[$1.stringValue ?? ""] ?? 0) }
            })
    }

    private static let marks = [
        "intercepted": UInt32(TRESTLE_TASK_INTERCEPTED), "ruled": UInt32(TRESTLE_TASK_RULED),
    ]

    /// Returns the number of the interceptor that a question names; `nil` if there is none.
    func interceptor(askedBy question: UnsafeRawBufferPointer) -> UInt32? {
        var index: Int?
        _ = check.cut(question, levelsAround: 0) { name, value in
            guard name.elementsEqual("interceptor".utf8) else { return }
            index = interceptorNames.firstIndex { value.elementsEqual($0) }
        }
        return index.map(UInt32.init)
    }
}
