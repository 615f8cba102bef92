import Glibc
import TestSupport

/// A plugin in Python that a test writes. Its one task, with the plugin's name, answers with its options unless `call`
/// is replaced.
struct PluginInPython {
    var name = "specimen"
    /// The body of a call: `m` is the message, `id` its id, `say(message)` sends a message.
    var call = #"say({"callbackId": id, "result": m["options"]})"#
    /// Code before the first message is read.
    var start = ""
    var version = "1"
    /// The result of `plugin.hello`, in Python.
    var hello = "{}"
    /// The body of `plugin.clean`; empty if the plugin does not support it.
    var clean = ""
    /// The body of a call of the interceptor: `q` contains its options.
    var intercept = #"say({"callbackId": id, "result": {"pass": True}})"#
    /// Code that runs before a message is handled: `m` is the message, `task` its task.
    var other = "pass"
    /// Further lines of the manifest, before its tasks.
    var settings = ""
    /// Further lines of the first task in the manifest.
    var taskSettings = ""

    private var script: String {
        """
        #!/usr/bin/env python3
        import fcntl, json, os, signal, socket, sys, time
        s = socket.socket(fileno=3)
        f = s.makefile("w")
        lines = s.makefile("r")
        def say(m):
            f.write(json.dumps(m) + "\\n")
            f.flush()
        def work(m, id):
            \(call.replacing("\n", with: "\n    "))
        def clean():
            \((clean.isEmpty ? "pass" : clean).replacing("\n", with: "\n    "))
        def intercept(q, id):
            \(intercept.replacing("\n", with: "\n    "))
        \(start)
        for line in lines:
            m = json.loads(line)
            id = m.get("callbackId")
            task = m.get("task")
            \(other.replacing("\n", with: "\n    "))
            if task == "\(name)": work(m, id)
            elif task == "\(name).good": say({"callbackId": id, "result": m["options"]})
            elif task == "plugin.intercept": intercept(m["options"], id)
            elif task == "plugin.hello": say({"callbackId": id, "result": \(hello)})
            elif task == "plugin.ping": say({"callbackId": id, "result": {}})
            elif task == "plugin.clean" and \(clean.isEmpty ? "False" : "True"):
                clean()
                say({"callbackId": id, "result": {}})
            elif id is not None: say({"callbackId": id, "error": {"code": "task.not_found", "message": "no"}})
        """
    }

    private var manifest: String {
        """
        command = ["./\(name).py"]
        version = "\(version)"
        \(settings)

        [[tasks]]
        name = "\(name)"
        summary = "A specimen."
        \(taskSettings)

        [[tasks]]
        name = "\(name).good"
        summary = "Answers with its options."
        """
    }

    /// Writes the plugin to a plugin directory.
    func write(to folder: TemporaryFolder) throws {
        let path = try folder.write(script + "\n", to: "\(name).py")
        guard chmod(path, 0o755) == 0 else { throw TestFailure("\(path) cannot be made executable") }
        try folder.write(manifest + "\n", to: "\(name).plugin.toml")
    }
}
