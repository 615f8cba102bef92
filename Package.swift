// swift-tools-version: 6.2
// Trestle: a daemon that runs native tasks for web pages, scripts and programs over a Unix socket.
// The targets stand in the order of the architecture, lowest first; each may import only those above it.
import PackageDescription

/// What every Swift target is compiled with: the language mode comes from the tools version.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Of code that runs on a plugin's executor and has no actors: an `async` function goes on where its caller is, without
/// looking up the executor and passing it a job for each call and return. Not of TaskKit: it changes the types of
/// closures, so that a method that takes one no longer meets a requirement of a protocol from a module without it.
/// Where the protocol has a default, the compiler does not say so.
let nonsending = strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

// Each package from elsewhere hangs on traits: a plugin's package that asks for none of them, or for "Testing" alone,
// resolves nothing of what only the daemon needs. Everyone enables one trait, and none enables another: each becomes a
// flag of the compiler, and SwiftPM puts several in another order each time, which builds everything again.
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Daemon", "Web"]))
let deque = Target.Dependency.product(
    name: "DequeModule", package: "swift-collections", condition: .when(traits: ["Daemon", "Web", "Testing"]))
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Daemon"]))
let sqlite = Target.Dependency.product(
    name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["Daemon"]))
let logging = Target.Dependency.product(
    name: "Logging", package: "swift-log", condition: .when(traits: ["Daemon", "Web", "Testing"]))

/// A plugin: its tasks as one target, which tests link, and its exported entry point as another, which becomes
/// the library `lib<Name>Plugin.so`.
struct PluginFolder {
    var name: String
    var dependencies: [Target.Dependency] = []
    var testDependencies: [Target.Dependency] = []
    var settings = strict

    var product: Product { .library(name: "\(name)Plugin", type: .dynamic, targets: ["\(name)Plugin"]) }

    var targets: [Target] {
        [
            .target(
                name: "\(name)Tasks", dependencies: ["TaskKit"] + dependencies, path: "Plugins/\(name)/Tasks",
                swiftSettings: settings),
            .target(
                name: "\(name)Plugin", dependencies: ["TaskKit", .target(name: "\(name)Tasks")],
                path: "Plugins/\(name)/Entry", swiftSettings: strict),
            .testTarget(
                name: "\(name)Tests",
                dependencies: ["TaskKitTesting", "TestSupport", .target(name: "\(name)Tasks")] + dependencies
                    + testDependencies,
                swiftSettings: strict),
        ]
    }
}

let plugins = [
    PluginFolder(name: "Echo"),
    PluginFolder(name: "Alert"),
    PluginFolder(name: "CloseWeb"),
    PluginFolder(
        name: "Fetch",
        dependencies: [
            "CCompression", "CCurl", "CThread", "DurableDatabase", "HTTPRules", "NetworkAccess", "OfflinePackages",
            "Sodium", grdb,
        ],
        testDependencies: ["CookiesTasks", "DiskTestSupport"], settings: nonsending),
    PluginFolder(
        name: "Cookies", dependencies: ["DurableDatabase", "HTTPRules", grdb, sqlite],
        testDependencies: ["DiskTestSupport"]),
    PluginFolder(
        name: "Login", dependencies: ["CSodium", "DurableDatabase", "Sodium", grdb],
        testDependencies: ["DiskTestSupport"]),
    PluginFolder(
        name: "Persistence", dependencies: ["DurableDatabase", "Sodium", grdb],
        testDependencies: ["DiskTestSupport"]),
]

/// For the package in Web; no promise to anybody else.
let forWeb: [Product] = [
    "BridgeJSON", "CommandLineSupport", "EventLoop", "FileTrust", "LaunchWorkers", "OfflinePackages", "PrivateDaemon",
    "ServiceManager", "Sodium", "TestSupport", "TOMLDocument", "WebOrigins",
].map { .library(name: $0, targets: [$0]) }

let daemonDependencies: [Target.Dependency] = [
    "BridgeJSON", "BridgeServer", "EventLoop", "FileTrust", "LaunchWorkers", "NetworkAccess", "PluginInterface",
    "ServiceManager", "TaskHosts", "TaskRuntime", "TOMLDocument", "CommandLineSupport", "WebOrigins", argumentParser,
    logging,
]

/// What the fuzz targets reach into.
let fuzzed: [Target.Dependency] = [
    "BridgeJSON", "BridgeMessage", "BridgeServer", "CookiesTasks", "CThreadUser", "EventLoop", "HTTPRules",
    "OfflinePackages", "PersistenceTasks", "TaskHosts", "PluginInterface", "TaskKit", "TaskRuntime", "TOMLDocument",
    "trestled", logging,
]

let package = Package(
    name: "trestle",
    products: [
        .executable(name: "trestled", targets: ["trestled"]),
        .executable(name: "trestle", targets: ["trestle"]),
        .executable(name: "trestle-plugin-host", targets: ["trestle-plugin-host"]),
        .library(name: "TaskKit", targets: ["TaskKit"]),
        .library(name: "TaskKitTesting", targets: ["TaskKitTesting"]),
        .library(name: "BridgeClient", targets: ["BridgeClient"]),
        .library(name: "TrestlePatterns", type: .dynamic, targets: ["CRE2"]),
        .library(name: "CounterPlugin", type: .dynamic, targets: ["CounterPlugin"]),
        .library(name: "SysinfoPlugin", type: .dynamic, targets: ["SysinfoPlugin"]),
        // For tests alone, and of no name by which a daemon in the build folder would take it for its own.
        .library(name: "Fixture", type: .dynamic, targets: ["FixturePlugin"]),
        .library(name: "CFixture", type: .dynamic, targets: ["CFixturePlugin"]),
        // For the package in Benchmarks, which measures these two by themselves; no promise to anybody else.
        .library(name: "BridgeMessage", targets: ["BridgeMessage"]),
        .library(name: "TaskRuntime", targets: ["TaskRuntime"]),
    ] + plugins.map(\.product) + forWeb,
    traits: [
        .default(enabledTraits: ["Daemon"]),
        .trait(name: "Daemon", description: "Everything."),
        .trait(name: "Web", description: "What the container of pages needs, in a package of its own."),
        .trait(name: "Testing", description: "What TaskKitTesting needs, besides TaskKit."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // MARK: C, at the edges
        .systemLibrary(name: "CThreadUser", path: "Fuzz/ThreadUser"),
        .systemLibrary(name: "CProcess", path: "Tests/CProcess"),
        .target(name: "CThread", path: "Sources/C/CThread"),
        .systemLibrary(
            name: "CCompression", path: "Sources/C/CCompression",
            providers: [.apt(["libbrotli-dev", "libzstd-dev", "zlib1g-dev"])]),
        .systemLibrary(
            name: "CCurl", path: "Sources/C/CCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CLibuv", path: "Sources/C/CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(
            name: "CPublicSuffix", path: "Sources/C/CPublicSuffix", pkgConfig: "libpsl",
            providers: [.apt(["libpsl-dev", "libidn2-dev"])]),
        .systemLibrary(
            name: "CSodium", path: "Sources/C/CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(
            name: "CSQLiteSetup", path: "Sources/C/CSQLiteSetup", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CSystemdBus", path: "Sources/C/CSystemdBus", pkgConfig: "libsystemd",
            providers: [.apt(["libsystemd-dev"])]),
        .target(name: "CBase64", path: "Sources/C/CBase64"),
        .target(name: "CBridgeJSON", path: "Sources/C/CBridgeJSON"),
        .target(
            name: "CTomlplusplus", path: "Sources/C/CTomlplusplus",
            cxxSettings: [.define("TOML_HEADER_ONLY", to: "0"), .define("TOML_SHARED_LIB", to: "1")],
            linkerSettings: [.linkedLibrary("tomlplusplus")]),
        // Loaded by BridgeJSON when the first pattern of a schema is compiled, and linked into nothing.
        .target(name: "CRE2", path: "Sources/C/CRE2", linkerSettings: [.linkedLibrary("re2")]),
        .target(name: "CTaskPlugin", path: "Sources/C/CTaskPlugin"),

        // MARK: Ground floor
        .target(name: "BlockingLanes", dependencies: ["CThread"], swiftSettings: strict),
        .target(name: "BridgeJSON", dependencies: ["CBase64"], swiftSettings: strict),
        .target(name: "DurableDatabase", dependencies: ["CSQLiteSetup", grdb], swiftSettings: strict),
        .target(name: "EventLoop", dependencies: ["CLibuv", deque], swiftSettings: strict),
        .target(name: "FileTrust", swiftSettings: strict),
        .target(name: "LaunchWorkers", swiftSettings: strict),
        .target(name: "NetworkAccess", swiftSettings: strict),
        .target(name: "ServiceManager", swiftSettings: strict),
        .target(name: "Sodium", dependencies: ["CSodium"], swiftSettings: strict),
        .target(name: "WebOrigins", swiftSettings: strict),
        .target(name: "HTTPRules", dependencies: ["CPublicSuffix", "Sodium", "WebOrigins"], swiftSettings: strict),
        .target(
            name: "OfflinePackages", dependencies: ["BridgeJSON", "CCompression", "Sodium"], swiftSettings: strict),
        .target(name: "TOMLDocument", dependencies: ["CTomlplusplus"], swiftSettings: strict),
        .target(name: "CommandLineSupport", dependencies: ["BridgeJSON", argumentParser], swiftSettings: strict),

        // MARK: The wire, and the plugin author's SDK
        .target(name: "BridgeMessage", dependencies: ["BridgeJSON", "CBridgeJSON"], swiftSettings: strict),
        .target(name: "ByteStreams", dependencies: ["BlockingLanes", "BridgeJSON"], swiftSettings: strict),
        .target(
            name: "TaskKit", dependencies: ["BlockingLanes", "BridgeJSON", "ByteStreams", "CTaskPlugin"],
            swiftSettings: strict),

        // MARK: Plugins in other processes: what both ends share
        .target(
            name: "PluginInterface",
            dependencies: ["BridgeJSON", "BridgeMessage", "CTaskPlugin", "EventLoop", "FileTrust"],
            swiftSettings: strict),

        // MARK: The runtime
        .target(
            name: "TaskRuntime",
            dependencies: ["BridgeJSON", "BridgeMessage", "LaunchWorkers", "WebOrigins", deque, logging],
            swiftSettings: strict),
        .target(
            name: "TaskHosts",
            dependencies: [
                "BridgeJSON", "BridgeMessage", "CTaskPlugin", "EventLoop", "LaunchWorkers", "PluginInterface",
                "TaskRuntime", deque, logging,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "trestle-plugin-host",
            dependencies: [
                "BlockingLanes", "BridgeJSON", "BridgeMessage", "CTaskPlugin", "EventLoop", "PluginInterface",
            ],
            swiftSettings: strict,
            // As the daemon.
            linkerSettings: [.linkedLibrary("Foundation")]),
        .target(
            name: "BridgeServer",
            dependencies: ["BlockingLanes", "BridgeJSON", "BridgeMessage", "EventLoop", "TaskRuntime", logging],
            swiftSettings: strict),
        .executableTarget(
            name: "trestled", dependencies: daemonDependencies, swiftSettings: strict,
            // For plugins that use Foundation, as those over GRDB do. A library that comes with the program has its
            // functions bound as they are first called; with a plugin, all at once, which takes a tenth of the daemon's
            // start.
            linkerSettings: [.linkedLibrary("Foundation")]),

        // MARK: A daemon of one's own, for tools and tests
        .target(name: "PrivateDaemon", dependencies: ["BridgeJSON", "EventLoop"], swiftSettings: strict),

        // MARK: The other end of the socket
        .target(
            name: "BridgeClient", dependencies: ["BridgeJSON", "BridgeMessage", "ByteStreams", "EventLoop"],
            swiftSettings: strict),
        .executableTarget(
            name: "trestle",
            dependencies: [
                "BridgeClient", "BridgeJSON", "CSystemdBus", "CThread", "EventLoop", "OfflinePackages", "PrivateDaemon",
                "Sodium", "CommandLineSupport", argumentParser,
            ],
            swiftSettings: strict),

        // MARK: Test kit
        .target(
            name: "TaskKitTesting",
            dependencies: [
                "BridgeClient", "BridgeJSON", "BridgeMessage", "ByteStreams", "CTaskPlugin", "EventLoop",
                "LaunchWorkers", "PrivateDaemon", "TaskHosts",
                "TaskKit", "TaskRuntime",
                logging,
            ],
            swiftSettings: strict),

        // MARK: Examples
        .executableTarget(
            name: "trestle-demo", dependencies: ["BridgeJSON"], path: "Examples/Demo", swiftSettings: strict),
        .target(
            name: "CounterPlugin", dependencies: ["CTaskPlugin"], path: "Examples/CounterC", publicHeadersPath: "."),
        .target(
            name: "SysinfoPlugin", dependencies: ["CTaskPlugin"], path: "Examples/SysinfoC",
            exclude: ["Makefile", "README.md", "test_sysinfo.py"], publicHeadersPath: "."),

        // MARK: Tests, a target for most modules of Sources and for each plugin
        .target(
            name: "CFixturePlugin", dependencies: ["CTaskPlugin"], path: "Tests/CFixturePlugin",
            publicHeadersPath: "."),
        .target(name: "FixturePlugin", dependencies: ["TaskKit"], path: "Tests/FixturePlugin", swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["CProcess"], path: "Tests/Support", exclude: ["http_script.py"],
            swiftSettings: strict),
        .target(name: "DiskTestSupport", dependencies: [grdb], path: "Tests/DiskSupport", swiftSettings: strict),
        .testTarget(name: "BridgeJSONTests", dependencies: ["BridgeJSON", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ByteStreamsTests", dependencies: ["BlockingLanes", "BridgeJSON", "ByteStreams", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DurableDatabaseTests", dependencies: ["DiskTestSupport", "DurableDatabase", "TestSupport", grdb],
            swiftSettings: strict),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "FileTrustTests", dependencies: ["FileTrust"], swiftSettings: strict),
        .testTarget(name: "HTTPRulesTests", dependencies: ["HTTPRules", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "LaunchWorkersTests", dependencies: ["LaunchWorkers"], swiftSettings: strict),
        .testTarget(name: "NetworkAccessTests", dependencies: ["NetworkAccess"], swiftSettings: strict),
        .testTarget(
            name: "ServiceManagerTests", dependencies: ["ServiceManager", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "OfflinePackagesTests",
            dependencies: ["BridgeJSON", "CCompression", "OfflinePackages", "Sodium", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "SodiumTests", dependencies: ["Sodium", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "TOMLDocumentTests", dependencies: ["TestSupport", "TOMLDocument"], swiftSettings: strict),
        .testTarget(
            name: "BridgeMessageTests", dependencies: ["BridgeJSON", "BridgeMessage", "CBridgeJSON", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "TaskKitTests", dependencies: ["TaskKit", "BridgeJSON", "CTaskPlugin", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "TaskRuntimeTests",
            dependencies: ["BridgeJSON", "BridgeMessage", "TaskRuntime", "TestSupport", "WebOrigins"],
            swiftSettings: strict),
        .testTarget(
            name: "TaskKitTestingTests",
            dependencies: ["BridgeJSON", "EchoTasks", "PrivateDaemon", "TaskKit", "TaskKitTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "TaskHostsTests",
            dependencies: [
                "BridgeJSON", "BridgeMessage", "CTaskPlugin", "EchoTasks", "EventLoop", "PluginInterface", "TaskHosts",
                "TaskKit", "TaskKitTesting", "TaskRuntime", "TestSupport", logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "BridgeServerTests",
            dependencies: ["BridgeJSON", "BridgeMessage", "BridgeServer", "EventLoop", "TaskRuntime", logging],
            swiftSettings: strict),
        .testTarget(
            name: "BridgeClientTests",
            dependencies: ["BridgeClient", "BridgeJSON", "BridgeServer", "EventLoop", "TaskRuntime", logging],
            swiftSettings: strict),
        .testTarget(
            name: "trestleTests",
            dependencies: [
                "BridgeClient", "BridgeJSON", "EventLoop", "PrivateDaemon", "TestSupport", "trestle",
                "CommandLineSupport",
                argumentParser,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "trestledTests",
            dependencies: [
                "BridgeJSON", "EventLoop", "ServiceManager", "TaskRuntime", "TestSupport", "TOMLDocument", "trestled",
                logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PluginHostTests", dependencies: ["trestle-plugin-host"], swiftSettings: strict),
        .testTarget(
            name: "DocumentationTests", dependencies: ["BridgeJSON", "TestSupport", "trestle", "trestled"],
            swiftSettings: strict),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "BridgeClient", "BridgeJSON", "CSystemdBus", "EventLoop", "TestSupport", "trestled", "trestle",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed + ["TestSupport"], path: "Fuzz",
            exclude: ["Corpus", "Finds", "Package.swift", "Programs", "ThreadUser", "words.dict"],
            sources: ["Targets", "Replay"], swiftSettings: strict),
    ] + plugins.flatMap(\.targets),
    cxxLanguageStandard: .cxx17
)

// `make fuzz` builds another package of the same sources: the fuzz targets as a library, and a program over each. Not
// together with the rest: programs with the fuzzer's own `main` link only where everything is compiled for it.
if Context.environment["TRESTLE_FUZZ"] != nil {
    package.products.removeAll { $0.name != "TrestlePatterns" }
    package.targets.removeAll { $0.isTest || ["trestle", "TaskKitTesting"].contains($0.name) }
    package.targets.removeAll { $0.name == "trestled" }
    package.targets.append(
        // Its modules but for the one with the program's start: a library, since programs cannot be linked into others.
        .target(
            name: "trestled", dependencies: daemonDependencies, exclude: ["Trestled.swift"], swiftSettings: strict))
    package.targets.append(
        .target(name: "FuzzTargets", dependencies: fuzzed, path: "Fuzz/Targets", swiftSettings: strict))
    for name in [
        "messages", "runtime", "streams", "process", "configuration", "query", "package", "setcookie",
        "cookiefile", "cachecontrol", "cost",
    ] {
        package.products.append(.executable(name: "fuzz-\(name)", targets: ["fuzz-\(name)"]))
        package.targets.append(
            .executableTarget(
                name: "fuzz-\(name)", dependencies: ["FuzzTargets"], path: "Fuzz/Programs/\(name)",
                swiftSettings: strict))
    }
}
