import TOMLDocument
import TaskRuntime
import Testing

@testable import trestled

@Suite("Refusals of a configuration file")
struct ConfigurationRefusalTests {
    @Test(
        "An unknown key is reported with its position, the nearest key and the known keys",
        arguments: [
            (
                "\nsocket_mod = \"0600\"\n",
                "t.toml:2:1: socket_mod: unknown key; did you mean 'socket_mode'? (known: socket, "
            ),
            ("socket-mode = \"0600\"", "t.toml:1:1: socket-mode: unknown key; did you mean 'socket_mode'? ("),
            (
                "[limits]\n  mesage_byts = 1\n",
                "t.toml:2:3: limits.mesage_byts: unknown key; did you mean 'message_bytes'? ("
            ),
            ("[limit]\nsessions = 1\n", "t.toml:1:2: limit: unknown key; did you mean 'limits'? (known: "),
            ("sessions = 5", "t.toml:1:1: sessions: unknown key; `sessions` belongs in the table [limits]"),
            ("sesions = 5", "t.toml:1:1: sesions: unknown key; did you mean 'limits.sessions'? (known: "),
            (
                "[limits]\nlog_level = \"info\"",
                "t.toml:2:1: limits.log_level: unknown key; `log_level` belongs above the first table of the file"
            ),
            (
                "[limits]\nquotas.uid_tasks = 1",
                "t.toml:2:1: limits.quotas: unknown key; `quotas` belongs above the first table of the file"
            ),
            (
                "[quotas.tasks.Echo]\nplugin_dir = \"/p\"",
                "t.toml:2:1: quotas.tasks: Echo.plugin_dir: unknown key; `plugin_dir` belongs above the first table of "
            ),
            ("colour = 1", "t.toml:1:1: colour: unknown key (known: socket, socket_mode, state_dir, policy_dir, "),
            (
                "plugins.disable = []",
                "t.toml:1:9: plugins.disable: unknown key; did you mean 'disabled'? (known: disabled, "
            ),
            ("plugins.login = 3", "t.toml:1:9: plugins.login: unknown key (known: disabled, a table [plugins.NAME]"),
            ("\"so\\ncket\" = 3", "t.toml:1:1: \"so\\ncket\": unknown key; did you mean 'socket'? ("),
        ])
    func unknownKey(text: String, line: String) throws {
        let lines = try refusals(text)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix(line) == true, "\(lines)")
    }

    @Test(
        "A wrong value is reported with the expectation, the value and a suggestion",
        arguments: [
            (
                "socket = 3",
                "t.toml:1:10: socket: expected an absolute path as a string; got the integer 3"
            ),
            (
                "socket = \"run/bridge.sock\"",
                "t.toml:1:10: socket: expected an absolute path as a string; got the string \"run/bridge.sock\""
            ),
            (
                "socket_mode = 600",
                "t.toml:1:15: socket_mode: expected octal permission bits as a string, such as \"0600\"; "
                    + "got the integer 600"
            ),
            (
                "socket_mode = 0o640",
                "t.toml:1:15: socket_mode: expected octal permission bits as a string, such as \"0600\"; "
                    + "got the integer 416"
            ),
            (
                "socket_mode = \"0999\"",
                "t.toml:1:15: socket_mode: expected octal permission bits as a string, such as \"0600\"; "
                    + "got the string \"0999\""
            ),
            (
                "log_level = \"warn\"",
                "t.toml:1:13: log_level: expected one of \"error\", \"warning\", \"notice\", \"info\", \"debug\"; "
                    + "got the string \"warn\"; did you mean \"warning\"?"
            ),
            (
                "drain_timeout = 5",
                "t.toml:1:17: drain_timeout: expected a duration from 0ms to 1h as a string with its unit "
                    + "(ms, s, m or h), such as \"5s\"; got the integer 5; did you mean \"5s\"?"
            ),
            (
                "drain_timeout = \"2 hours\"",
                "t.toml:1:17: drain_timeout: expected a duration from 0ms to 1h as a string with its unit "
                    + "(ms, s, m or h), such as \"5s\"; got the string \"2 hours\""
            ),
            (
                "limits.stalled = \"90 sec\"",
                "t.toml:1:18: limits.stalled: expected a duration from 100ms to 1h as a string with its unit "
                    + "(ms, s, m or h), such as \"5s\"; got the string \"90 sec\"; did you mean \"90s\"?"
            ),
            (
                "limits.message_bytes = \"1MB\"",
                "t.toml:1:24: limits.message_bytes: expected a size from 1KiB to 256MiB, such as \"64KiB\" or a "
                    + "number of bytes; got the string \"1MB\"; did you mean \"1MiB\"?"
            ),
            (
                "limits.message_bytes = 5",
                "t.toml:1:24: limits.message_bytes: expected a size from 1KiB to 256MiB, such as \"64KiB\" or a "
                    + "number of bytes; got the integer 5"
            ),
            (
                "limits.sessions = 0",
                "t.toml:1:19: limits.sessions: expected a number of sessions from 1 to 1000000; got the integer 0"
            ),
            (
                "limits.sessions = \"12\"",
                "t.toml:1:19: limits.sessions: expected a number of sessions from 1 to 1000000; "
                    + "got the string \"12\"; did you mean 12?"
            ),
            ("limits = 3", "t.toml:1:10: limits: expected a table ([limits]); got the integer 3"),
            ("plugins = []", "t.toml:1:11: plugins: expected a table ([plugins]); got an array"),
            (
                "plugin_dir = [\"/a\",\n  7]",
                "t.toml:2:3: plugin_dir[1]: expected an absolute path as a string; got the integer 7"
            ),
            (
                "dialects.url_schemes = \"JXaction\"",
                "t.toml:1:24: dialects.url_schemes: expected the scheme of a URL in lower case, such as \"jxaction\"; "
                    + "got the string \"JXaction\"; did you mean \"jxaction\"?"
            ),
            (
                "plugins.disabled = [\"\"]",
                "t.toml:1:21: plugins.disabled[0]: expected a string that is not empty; got the string \"\""
            ),
            (
                "socket = 2026-01-02",
                "t.toml:1:10: socket: expected an absolute path as a string; got the date 2026-01-02"
            ),
        ])
    func mismatch(text: String, line: String) throws {
        #expect(try refusals(text) == [line])
    }

    @Test("All mistakes in a file are reported together, in the order of its lines")
    func allAtOnce() throws {
        let lines = try refusals(
            """
            [limits]
            stalled = 30
            sesions = 1
            [plugins]
            disabled = 1
            [plugins.login]
            anything = "goes"
            [sockets]
            """)
        let locations = lines.map { $0.prefix { $0 != " " } }
        #expect(locations == ["t.toml:2:11:", "t.toml:3:1:", "t.toml:5:12:", "t.toml:8:2:"])
    }

    @Test("No value breaks a line of the output or makes it too long")
    func hostileText() throws {
        let long = String(repeating: "x", count: 10_000)
        for text in ["log_level = \"a\\nb\\u001B[2J\"", "log_level = \"\(long)\"", "\"a\\u001Bb\" = 1"] {
            let lines = try refusals(text)
            #expect(lines.count == 1)
            #expect(lines.allSatisfy { line in line.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
            #expect(lines.allSatisfy { $0.count < 400 })
        }
    }
}
