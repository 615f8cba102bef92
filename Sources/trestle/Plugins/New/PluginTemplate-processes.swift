extension PluginTemplate {
    var pythonFiles: [File] {
        let script = "\(name.snake)_plugin"
        return [
            manifest(
                command: "\(script).py",
                settings: ""),
            File(
                path: "\(script).py",
                text: """
                    #!/usr/bin/env python3
                    from trestle_bridge import Plugin

                    plugin = Plugin()


                    @plugin.task("\(name.text)")
                    def answer(options, call):
                        return {"greeting": f"Hello, {options['who']}"}


                    if __name__ == "__main__":
                        plugin.run()

                    """, isExecutable: true),
            File(
                path: "test_\(script).py",
                text: """
                    import unittest

                    import \(script)


                    class AnswerTests(unittest.TestCase):
                        def test_it_greets(self):
                            self.assertEqual(\(script).answer({"who": "World"}, None), {"greeting": "Hello, World"})


                    if __name__ == "__main__":
                        unittest.main()

                    """),
            processMakefile(
                variables:
                    "# Where trestle_bridge is, for the test of the function; the daemon sets it for the plugin.\nTRESTLE_PYTHON ?= \(make(paths.python))\n",
                test: "PYTHONPATH=$(TRESTLE_PYTHON) python3 -B -m unittest",
                subject: "the function, and the plugin in its own daemon"),
            File(path: ".gitignore", text: "__pycache__/\n"),
            readme(
                .python,
                files: [
                    ("\(name.text).plugin.toml", "the manifest, which the daemon reads: command, tasks, schemas"),
                    ("\(script).py", "the plugin, which the daemon starts"),
                    ("test_\(script).py", "its tests"), ("Makefile", "tests it"),
                ],
                further: """
                    The README of Trestle's Clients/Python describes `trestle_bridge.Plugin`. docs/plugin-processes.md describes
                    manifests and the messages between the daemon and a plugin's process.
                    """),
        ]
    }

    var shellFiles: [File] {
        [
            manifest(command: "\(name.text).sh", settings: ""),
            File(
                path: "\(name.text).sh",
                text: #"""
                    #!/bin/sh
                    # The socket is descriptor 3: calls come and answers go, a line of JSON each.
                    exec <&3 >&3
                    while read -r message; do
                        id=$(printf '%s' "$message" | jq .callbackId)
                        case $(printf '%s' "$message" | jq -r .task) in
                        \#(name.text)) printf '%s' "$message" | jq -c '{callbackId, result: {greeting: "Hello, \(.options.who)"}}' ;;
                        *) [ "$id" = null ] || printf '{"callbackId":%s,"error":{"code":"task.not_found","message":"no"}}\n' "$id" ;;
                        esac
                    done

                    """#, isExecutable: true),
            processMakefile(variables: "", test: nil, subject: "the plugin in its own daemon"),
            readme(
                .sh,
                files: [
                    ("\(name.text).plugin.toml", "the manifest, which the daemon reads: command, tasks, schemas"),
                    ("\(name.text).sh", "the plugin, which the daemon starts; it needs `jq`"),
                    ("Makefile", "tests it"),
                ],
                further:
                    "Trestle's docs/plugin-processes.md describes the messages between the daemon and a plugin process."
            ),
        ]
    }

    private func manifest(command: String, settings: String) -> File {
        File(
            path: "\(name.text).plugin.toml",
            text: """
                command = ["./\(command)"]
                version = "0.1.0"
                \(settings)
                [[tasks]]
                name = "\(name.text)"
                summary = "Greets somebody by name."

                [tasks.options]
                type = "object"
                required = ["who"]
                properties.who = { type = "string", maxLength = 1000 }

                [tasks.result]
                type = "object"
                required = ["greeting"]
                properties.greeting = { type = "string" }

                """)
    }

    private func processMakefile(variables: String, test: String?, subject: String) -> File {
        let first = test.map { "\t\($0)\n" } ?? ""
        return File(
            path: "Makefile",
            text: """
                # make: nothing needs to be built.
                # make test: tests \(subject).

                \(variables)TRESTLE ?= \(make(paths.program))

                .PHONY: all test
                all: ;

                test:
                \(first)\t$(TRESTLE) plugin check \(name.text).plugin.toml --call '\(name.text)=\(Self.sampleOptions)'

                """)
    }
}
