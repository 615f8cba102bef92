import BridgeJSON
import CTaskPlugin
import TaskRuntime

// The tasks of interceptors, as a process reports them when it replaces another one.

extension JSON {
    /// Returns the manifest with the tasks of its interceptors replaced by those in the answer to `plugin.start`.
    func withInterceptedTasks(_ answer: JSON) -> JSON {
        guard var manifest = objectValue, let interceptors = manifest["interceptors"]?.arrayValue else { return self }
        manifest["interceptors"] = .array(
            interceptors.map { interceptor in
                guard var members = interceptor.objectValue, let name = members["name"]?.stringValue,
                    let tasks = answer["interceptors"]?[name]
                else { return interceptor }
                members["tasks"] = tasks
                return .object(members)
            })
        return .object(manifest)
    }
}

extension PluginProcessHost {
    /// Applies the tasks of the interceptors in this manifest.
    func takeInterceptedTasks(of manifest: JSON) {
        guard let instance, let interceptors = manifest["interceptors"]?.arrayValue else { return }
        var tasks: JSONObject = [:]
        for interceptor in interceptors {
            if let name = interceptor["name"]?.stringValue { tasks[name] = interceptor["tasks"] }
        }
        do throws(BridgeError) {
            try runtime.takeInterceptedTasks(["interceptors": .object(tasks)], of: instance)
        } catch {
            writeLog(UInt32(TRESTLE_LOG_WARNING), "its interceptors stay as they were: \(error.message)", of: nil)
        }
    }
}
