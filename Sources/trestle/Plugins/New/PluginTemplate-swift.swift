extension PluginTemplate {
    var swiftFiles: [File] {
        [
            File(
                path: "Package.swift",
                text: """
                    // swift-tools-version: 6.2
                    import PackageDescription

                    let package = Package(
                        name: "\(name.camel)",
                        products: [.library(name: "\(name.camel)Plugin", type: .dynamic, targets: ["\(name.camel)Plugin"])],
                        dependencies: [.package(\(paths.package), traits: [])],
                        targets: [
                            .target(
                                name: "\(name.camel)Plugin",
                                dependencies: [.product(name: "TaskKit", package: "\(paths.packageName)")]),
                            .testTarget(name: "\(name.camel)PluginTests", dependencies: ["\(name.camel)Plugin"]),
                        ]
                    )

                    """),
            File(
                path: "Sources/\(name.camel)Plugin/\(name.camel)Plugin.swift",
                text: """
                    import TaskKit

                    struct \(name.camel)Task: BridgeTask {
                        static let name = "\(name.text)"
                        static let summary = "Greets somebody by name."
                        struct Options: Codable, Sendable { var who: String }
                        struct Result: Codable, Sendable { var greeting: String }
                        func run(_ options: Options, _ call: Call) async throws -> Result { Result(greeting: "Hello, \\(options.who)") }
                    }

                    func makePlugin() -> Plugin { Plugin("\(name.text)", version: "0.1.0") { \(name.camel)Task() } }

                    @c public func trestle_plugin_entry() -> PluginTable { makePlugin().export() }

                    """),
            File(
                path: "Tests/\(name.camel)PluginTests/\(name.camel)PluginTests.swift",
                text: """
                    import Testing

                    @testable import \(name.camel)Plugin

                    @Test("The plugin passes its own check: names, summaries, schemas")
                    func conforms() throws {
                        try makePlugin().check()
                    }

                    """),
            File(path: ".gitignore", text: ".build/\n"),
            readme(
                .swift,
                files: [
                    ("Package.swift", "the package, which depends on Trestle's `TaskKit`"),
                    ("Sources/\(name.camel)Plugin", "the task, the plugin, and the function that the daemon calls"),
                    ("Tests/\(name.camel)PluginTests", "its tests"),
                ],
                further: """
                    Tests that call its tasks use `TaskKitTesting`, which requires a checkout of Trestle. In Package.swift,
                    replace `traits: []` by `traits: ["Testing"]`, and add
                    `.product(name: "TaskKitTesting", package: "\(paths.packageName)")` to the dependencies of the test target.
                    docs/plugins.md of Trestle describes plugins.
                    """),
        ]
    }
}
