import BridgeJSON
import PrivateDaemon
import Testing

@testable import TaskKitTesting

@Suite("The requirements of a test with a built plugin")
struct BuiltPluginTests {
    @Test("The library is found by the plugin's name, by its product's name, and by its path")
    func libraries() throws {
        let found = try BuiltPlugin("close-web", library: nil)
        #expect(found.library.hasSuffix("/libCloseWebPlugin.so"))
        #expect(try BuiltPlugin("any", library: "CloseWebPlugin").library == found.library)
        #expect(try BuiltPlugin("any", library: found.library).library == found.library)
        #expect(found.programs.daemon.hasSuffix("/trestled") && found.programs.pluginHost != nil)
    }

    @Test("A missing library is reported with the places searched and what to do")
    func missing() {
        let unknown = #expect(throws: MissingBuildProduct.self) { try BuiltPlugin("nobody", library: nil) }
        #expect(unknown?.description.contains("withPlugin(library:)") == true)
        let unbuilt = #expect(throws: MissingBuildProduct.self) { try BuiltPlugin("any", library: "NobodyPlugin") }
        #expect(unbuilt?.description.contains("libNobodyPlugin.so") == true)
    }

    @Test("A section of a configuration is written as TOML")
    func toml() {
        let section: JSON = [
            "a": "x\"y\n", "b": [1, 2.5, true], "c": ["d e": [], "f": nil], "g": nil,
        ]
        #expect(
            TOMLText.section("my-plugin", section) == """
                [plugins."my-plugin"]
                "a" = "x\\"y\\n"
                "b" = [1, 2.5, true]
                "c" = { "d e" = [] }

                """)
    }
}
