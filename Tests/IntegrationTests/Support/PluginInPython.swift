import Glibc
import TestSupport

/// A plugin in Python that a test writes: one task of its name, which answers with its options, unless its body says
/// otherwise.
struct PluginInPython {
    var name = "specimen"
    /// What a call does, as the body of a function: `m` is the message, `id` its id, `say(message)` sends one.
    var call = #"say({"callbackId": id, "result": m["options"]})"#
    /// What comes before anything is read.
    var start = ""
    var version = "1"
    /// What `plugin.hello` is answered with, Python.
    var hello = "{}"
    /// What `plugin.clean` does, as the body of a function; empty: it is not known.
    var clean = ""
    /// What a question to an interceptor does, as the body of a function: `q` is the question.
    var intercept = #"say({"callbackId": id, "result": {"pass": True}})"#
    /// What comes before a message is looked at, Python: `m` is it, `task` its task.
    var other = "pass"
    /// Further lines of the manifest, ahead of its tasks.
    var settings = ""
    /// Further lines about the first task.
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

    /// Writes it into a plugin directory.
    func write(to folder: TemporaryFolder) throws {
        let path = try folder.write(script + "\n", to: "\(name).py")
        guard chmod(path, 0o755) == 0 else { throw TestFailure("\(path) cannot be made executable") }
        try folder.write(manifest + "\n", to: "\(name).plugin.toml")
    }
}
