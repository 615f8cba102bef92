import BridgeJSON
import TOMLDocument
import Testing

@testable import trestled

@Suite("A plugin's section of the configuration")
struct ConfigurationPluginsTests {
    private let text = """
        [plugins]
        disabled = ["login",
          "ehco"]

        [plugins.alert]
        presenters = ["client",
            "log"]
        ratio = 1.5
        whole = 2.0
        since = 2026-01-02
        "odd key" = { on = true, limit = inf }

        [[plugins.alert.rules]]
        name = "first"
        [[plugins.alert.rules]]
        name = "second"
        nam = 1

        [plugins.logn]
        """

    private func alert() throws -> PluginSection {
        try #require(try configuration(text).section(of: "alert"))
    }

    @Test("reaches the plugin as JSON, in its order, with dates as strings")
    func json() throws {
        let expected =
            #"{"presenters":["client","log"],"ratio":1.5,"whole":2.0,"since":"2026-01-02","#
            + #""odd key":{"on":true,"limit":"inf"},"rules":[{"name":"first"},{"name":"second","nam":1}]}"#
        #expect(try alert().json.text == expected)
    }

    @Test("is nil if the file does not contain it")
    func absent() throws {
        #expect(try configuration(text).section(of: "echo") == nil)
    }

    @Test(
        "A JSON path leads to the line and column of its value",
        arguments: [
            ("$", "t.toml:5:10: plugins.alert"), ("$.presenters", "t.toml:6:14: plugins.alert.presenters"),
            ("$.presenters[1]", "t.toml:7:5: plugins.alert.presenters[1]"),
            ("$.rules[1].name", "t.toml:16:8: plugins.alert.rules[1].name"),
            ("$[\"odd key\"].on", "t.toml:11:20: plugins.alert[\"odd key\"].on"),
            ("$.odd key.on", "t.toml:11:20: plugins.alert.odd key.on"),
            // A path without a value is located at the last part that exists.
            ("$.presenter", "t.toml:5:10: plugins.alert.presenter"),
            ("$.presenters[2]", "t.toml:6:14: plugins.alert.presenters[2]"),
            ("$.presenters[x]", "t.toml:6:14: plugins.alert.presenters[x]"),
            ("$.presenters[", "t.toml:6:14: plugins.alert.presenters["),
            ("$.rules[0].missing.deeper", "t.toml:13:1: plugins.alert.rules[0].missing.deeper"),
            ("$.ratio.x", "t.toml:8:9: plugins.alert.ratio.x"),
        ])
    func locations(path: String, line: String) throws {
        #expect(try alert().problem(at: path, "no").description == line + ": no")
    }

    @Test("A plugin's refusal is reported with the position in the file")
    func refusals() throws {
        let mismatch = JSONMismatch(path: "$.presenters[0]", expected: "one of: dialog, log", got: "string \"client\"")
        #expect(
            try alert().problem(BridgeError(mismatch)).description
                == "t.toml:6:15: plugins.alert.presenters[0]: expected one of: dialog, log; got string \"client\"")
        let unknown = JSONMismatch(
            path: "$.rules[1].nam", expected: "one of the keys kind, name", got: "an unknown key",
            knownKeys: ["kind", "name"])
        #expect(
            try alert().problem(BridgeError(unknown)).description
                == "t.toml:17:1: plugins.alert.rules[1].nam: unknown key; did you mean 'name'? (known: kind, name)")
        let other = BridgeError(.configurationInvalid, "there is no journal here")
        #expect(try alert().problem(other).description == "t.toml:5:10: plugins.alert: there is no journal here")
    }

    @Test("A section or disabled name without its plugin is an error that lists the installed plugins")
    func unknownPlugins() throws {
        let lines = try configuration(text).problems(installedPlugins: ["login", "echo", "alert"]).map(\.description)
        let known = "no plugin of this name is installed; did you mean"
        #expect(
            lines == [
                "t.toml:3:3: plugins.disabled[1]: \"ehco\": \(known) 'echo'? (known: alert, echo, login)",
                "t.toml:19:10: plugins.logn: \(known) 'login'? (known: alert, echo, login)",
            ])
        #expect(try configuration(text).problems(installedPlugins: ["login", "ehco", "alert", "logn"]).isEmpty)
    }

    @Test("The error states if no plugin is installed")
    func noPlugins() throws {
        let lines = try configuration("[plugins.echo]").problems(installedPlugins: []).map(\.description)
        #expect(lines == ["t.toml:1:10: plugins.echo: no plugin of this name is installed (there are none)"])
    }
}
