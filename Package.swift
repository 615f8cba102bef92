// swift-tools-version: 6.2
// Trestle: a daemon that runs native tasks for web pages, scripts and programs over a Unix socket.
// The targets are listed in the order of the architecture, lowest first; each imports only targets above it.
import PackageDescription

/// The settings of all Swift targets. The tools version sets the language mode.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of code that runs on a plugin's executor and has no actors: an `async` function runs on the executor of
/// its caller, without a job for each call and return. TaskKit does not use them, because they change the types of
/// closures: a method with a closure no longer implements a requirement of a protocol in a module without them, and the
/// compiler does not report it if the protocol has a default.
let nonsending = strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

// Traits select the dependencies: a plugin's package that enables no trait, or "Testing" only, does not resolve what
// only the daemon needs. Each package enables one trait, and no trait enables another: each trait is a flag of the
// compiler, SwiftPM orders several flags differently each time, and a different order rebuilds everything.
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Daemon", "Web"]))
let deque = Target.Dependency.product(
    name: "DequeModule", package: "swift-collections", condition: .when(traits: ["Daemon", "Web", "Testing"]))
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Daemon"]))
let sqlite = Target.Dependency.product(
    name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["Daemon"]))
let logging = Target.Dependency.product(
    name: "Logging", package: "swift-log", condition: .when(traits: ["Daemon", "Web", "Testing"]))

/// A plugin, in two targets: its tasks, which tests link, and its entry point, which becomes the library
/// `lib<Name>Plugin.so`.
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
                path: "Plugins/\(name)/Entry"),
            .testTarget(
                name: "\(name)Tests",
                dependencies: ["TaskKitTesting", "TestSupport", .target(name: "\(name)Tasks")] + dependencies
                    + testDependencies),
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

/// The modules that the package in Web imports. They are no public API.
let forWeb: [Product] = [
    "BridgeJSON", "CommandLineSupport", "EventLoop", "FileTrust", "LaunchWorkers", "OfflinePackages", "PrivateDaemon",
    "ServiceManager", "Sodium", "TestSupport", "TOMLDocument", "WebOrigins",
].map { .library(name: $0, targets: [$0]) }

/// A library of the system, with its module map in Sources/C and its Debian packages.
func library(_ name: String, pkgConfig: String? = nil, apt packages: [String]) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt(packages)])
}

let daemonDependencies: [Target.Dependency] = [
    "BridgeJSON", "BridgeServer", "EventLoop", "FileTrust", "LaunchWorkers", "NetworkAccess", "PluginInterface",
    "ServiceManager", "TaskHosts", "TaskRuntime", "TOMLDocument", "CommandLineSupport", "WebOrigins", argumentParser,
    logging,
]

/// The modules that the fuzz targets test.
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
        // For tests only. Without "Plugin" in its name, so that a daemon in the build folder does not load it.
        .library(name: "Fixture", type: .dynamic, targets: ["FixturePlugin"]),
        .library(name: "CFixture", type: .dynamic, targets: ["CFixturePlugin"]),
        // The modules that the package in Benchmarks measures. They are no public API.
        .library(name: "BridgeMessage", targets: ["BridgeMessage"]),
        .library(name: "TaskRuntime", targets: ["TaskRuntime"]),
    ] + plugins.map(\.product) + forWeb,
    traits: [
        .default(enabledTraits: ["Daemon"]),
        .trait(name: "Daemon", description: "Everything."),
        .trait(name: "Web", description: "The modules that trestle-web imports."),
        .trait(name: "Testing", description: "TaskKit and TaskKitTesting."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // MARK: C modules
        .systemLibrary(name: "CThreadUser", path: "Fuzz/ThreadUser"),
        .systemLibrary(name: "CProcess", path: "Tests/CProcess"),
        .target(name: "CThread", path: "Sources/C/CThread"),
        library("CCompression", apt: ["libbrotli-dev", "libzstd-dev", "zlib1g-dev"]),
        library("CCurl", pkgConfig: "libcurl", apt: ["libcurl4-openssl-dev"]),
        .systemLibrary(name: "CExtendedAttributes", path: "Sources/C/CExtendedAttributes"),
        library("CLibuv", pkgConfig: "libuv", apt: ["libuv1-dev"]),
        library("CPublicSuffix", pkgConfig: "libpsl", apt: ["libpsl-dev", "libidn2-dev"]),
        library("CSodium", pkgConfig: "libsodium", apt: ["libsodium-dev"]),
        library("CSQLiteSetup", pkgConfig: "sqlite3", apt: ["libsqlite3-dev"]),
        library("CSystemdBus", pkgConfig: "libsystemd", apt: ["libsystemd-dev"]),
        .target(name: "CBase64", path: "Sources/C/CBase64"),
        .target(name: "CBridgeJSON", path: "Sources/C/CBridgeJSON"),
        .target(
            name: "CTomlplusplus", path: "Sources/C/CTomlplusplus",
            cxxSettings: [.define("TOML_HEADER_ONLY", to: "0"), .define("TOML_SHARED_LIB", to: "1")],
            linkerSettings: [.linkedLibrary("tomlplusplus")]),
        // No target links it: BridgeJSON loads it when it compiles the first pattern of a schema.
        .target(name: "CRE2", path: "Sources/C/CRE2", linkerSettings: [.linkedLibrary("re2")]),
        .target(name: "CTaskPlugin", path: "Sources/C/CTaskPlugin"),

        // MARK: Base modules
        .target(name: "BlockingLanes", dependencies: ["CThread"]),
        .target(name: "BridgeJSON", dependencies: ["CBase64"]),
        .target(name: "DurableDatabase", dependencies: ["CSQLiteSetup", grdb]),
        .target(name: "EventLoop", dependencies: ["CLibuv", deque]),
        .target(name: "FileTrust", dependencies: ["CExtendedAttributes"]),
        .target(name: "LaunchWorkers"),
        .target(name: "NetworkAccess"),
        .target(name: "ServiceManager"),
        .target(name: "Sodium", dependencies: ["CSodium"]),
        .target(name: "WebOrigins"),
        .target(name: "HTTPRules", dependencies: ["CPublicSuffix", "Sodium", "WebOrigins"]),
        .target(name: "OfflinePackages", dependencies: ["BridgeJSON", "CCompression", "Sodium"]),
        .target(name: "TOMLDocument", dependencies: ["CTomlplusplus"]),
        .target(name: "CommandLineSupport", dependencies: ["BridgeJSON", argumentParser]),

        // MARK: The protocol, and the SDK for plugin authors
        .target(name: "BridgeMessage", dependencies: ["BridgeJSON", "CBridgeJSON"]),
        .target(name: "ByteStreams", dependencies: ["BlockingLanes", "BridgeJSON"]),
        .target(name: "TaskKit", dependencies: ["BlockingLanes", "BridgeJSON", "ByteStreams", "CTaskPlugin"]),

        // MARK: The interface between the daemon and plugin processes
        .target(
            name: "PluginInterface",
            dependencies: ["BridgeJSON", "BridgeMessage", "CTaskPlugin", "EventLoop", "FileTrust"]),

        // MARK: The runtime
        .target(
            name: "TaskRuntime",
            dependencies: ["BridgeJSON", "BridgeMessage", "LaunchWorkers", "WebOrigins", deque, logging]),
        .target(
            name: "TaskHosts",
            dependencies: [
                "BridgeJSON", "BridgeMessage", "CTaskPlugin", "EventLoop", "LaunchWorkers", "PluginInterface",
                "TaskRuntime", deque, logging,
            ]),
        .executableTarget(
            name: "trestle-plugin-host",
            dependencies: [
                "BlockingLanes", "BridgeJSON", "BridgeMessage", "CTaskPlugin", "EventLoop", "PluginInterface",
            ],
            // For the same reason as in trestled.
            linkerSettings: [.linkedLibrary("Foundation")]),
        .target(
            name: "BridgeServer",
            dependencies: ["BlockingLanes", "BridgeJSON", "BridgeMessage", "EventLoop", "TaskRuntime", logging]),
        .executableTarget(
            name: "trestled", dependencies: daemonDependencies,
            // Plugins over GRDB use Foundation. The functions of a library that the program links are bound at their
            // first call, those of a library that a plugin loads all at once: that takes a tenth of the daemon's start.
            linkerSettings: [.linkedLibrary("Foundation")]),

        // MARK: Private daemons, for tools and tests
        .target(name: "PrivateDaemon", dependencies: ["BridgeJSON", "EventLoop"]),

        // MARK: The client and the command line
        .target(name: "BridgeClient", dependencies: ["BridgeJSON", "BridgeMessage", "ByteStreams", "EventLoop"]),
        .executableTarget(
            name: "trestle",
            dependencies: [
                "BridgeClient", "BridgeJSON", "CSystemdBus", "CThread", "EventLoop", "OfflinePackages", "PrivateDaemon",
                "Sodium", "CommandLineSupport", argumentParser,
            ]),

        // MARK: Test kit
        .target(
            name: "TaskKitTesting",
            dependencies: [
                "BridgeClient", "BridgeJSON", "BridgeMessage", "ByteStreams", "CTaskPlugin", "EventLoop",
                "LaunchWorkers", "PrivateDaemon", "TaskHosts", "TaskKit", "TaskRuntime", logging,
            ]),

        // MARK: Examples
        .executableTarget(name: "trestle-demo", dependencies: ["BridgeJSON"], path: "Examples/Demo"),
        .target(
            name: "CounterPlugin", dependencies: ["CTaskPlugin"], path: "Examples/CounterC", publicHeadersPath: "."),
        .target(
            name: "SysinfoPlugin", dependencies: ["CTaskPlugin"], path: "Examples/SysinfoC",
            exclude: ["Makefile", "README.md", "test_sysinfo.py"], publicHeadersPath: "."),

        // MARK: Tests, a target for most modules of Sources and for each plugin
        .target(
            name: "CFixturePlugin", dependencies: ["CTaskPlugin"], path: "Tests/CFixturePlugin",
            publicHeadersPath: "."),
        .target(name: "FixturePlugin", dependencies: ["TaskKit"], path: "Tests/FixturePlugin"),
        .target(name: "TestSupport", dependencies: ["CProcess"], path: "Tests/Support", exclude: ["http_script.py"]),
        .target(name: "DiskTestSupport", dependencies: [grdb], path: "Tests/DiskSupport"),
        .testTarget(name: "BridgeJSONTests", dependencies: ["BridgeJSON", "TestSupport"]),
        .testTarget(
            name: "ByteStreamsTests", dependencies: ["BlockingLanes", "BridgeJSON", "ByteStreams", "TestSupport"]),
        .testTarget(
            name: "DurableDatabaseTests", dependencies: ["DiskTestSupport", "DurableDatabase", "TestSupport", grdb]),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "TestSupport"]),
        .testTarget(name: "FileTrustTests", dependencies: ["CExtendedAttributes", "FileTrust", "TestSupport"]),
        .testTarget(name: "HTTPRulesTests", dependencies: ["HTTPRules", "TestSupport"]),
        .testTarget(name: "LaunchWorkersTests", dependencies: ["LaunchWorkers"]),
        .testTarget(name: "NetworkAccessTests", dependencies: ["NetworkAccess"]),
        .testTarget(name: "ServiceManagerTests", dependencies: ["ServiceManager", "TestSupport"]),
        .testTarget(
            name: "OfflinePackagesTests",
            dependencies: ["BridgeJSON", "CCompression", "OfflinePackages", "Sodium", "TestSupport"]),
        .testTarget(name: "SodiumTests", dependencies: ["Sodium", "TestSupport"]),
        .testTarget(name: "TOMLDocumentTests", dependencies: ["TestSupport", "TOMLDocument"]),
        .testTarget(
            name: "BridgeMessageTests", dependencies: ["BridgeJSON", "BridgeMessage", "CBridgeJSON", "TestSupport"]),
        .testTarget(name: "TaskKitTests", dependencies: ["TaskKit", "BridgeJSON", "CTaskPlugin", "TestSupport"]),
        .testTarget(
            name: "TaskRuntimeTests",
            dependencies: ["BridgeJSON", "BridgeMessage", "TaskRuntime", "TestSupport", "WebOrigins"]),
        .testTarget(
            name: "TaskKitTestingTests",
            dependencies: ["BridgeJSON", "EchoTasks", "PrivateDaemon", "TaskKit", "TaskKitTesting"]),
        .testTarget(
            name: "TaskHostsTests",
            dependencies: [
                "BridgeJSON", "BridgeMessage", "CTaskPlugin", "EchoTasks", "EventLoop", "PluginInterface", "TaskHosts",
                "TaskKit", "TaskKitTesting", "TaskRuntime", "TestSupport", logging,
            ]),
        .testTarget(
            name: "BridgeServerTests",
            dependencies: ["BridgeJSON", "BridgeMessage", "BridgeServer", "EventLoop", "TaskRuntime", logging]),
        .testTarget(
            name: "BridgeClientTests",
            dependencies: ["BridgeClient", "BridgeJSON", "BridgeServer", "EventLoop", "TaskRuntime", logging]),
        .testTarget(
            name: "trestleTests",
            dependencies: [
                "BridgeClient", "BridgeJSON", "CommandLineSupport", "EventLoop", "PrivateDaemon", "TestSupport",
                "trestle", argumentParser,
            ]),
        .testTarget(
            name: "trestledTests",
            dependencies: [
                "BridgeJSON", "EventLoop", "ServiceManager", "TaskRuntime", "TestSupport", "TOMLDocument", "trestled",
                logging,
            ]),
        .testTarget(name: "PluginHostTests", dependencies: ["trestle-plugin-host"]),
        .testTarget(name: "DocumentationTests", dependencies: ["BridgeJSON", "TestSupport", "trestle", "trestled"]),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "BridgeClient", "BridgeJSON", "CSystemdBus", "EventLoop", "TestSupport", "trestled", "trestle",
            ]),
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed + ["TestSupport"], path: "Fuzz",
            exclude: ["Corpus", "Finds", "Package.swift", "Programs", "ThreadUser", "words.dict"],
            sources: ["Targets", "Replay"]),
    ] + plugins.flatMap(\.targets),
    cxxLanguageStandard: .cxx17
)

// `make fuzz` builds a different package from the same sources: the fuzz targets as a library, and a program for each.
// It is separate because programs with the fuzzer's `main` link only if everything is compiled for the fuzzer.
if Context.environment["TRESTLE_FUZZ"] != nil {
    package.products.removeAll { $0.name != "TrestlePatterns" }
    package.targets.removeAll { $0.isTest || ["trestle", "TaskKitTesting"].contains($0.name) }
    package.targets.removeAll { $0.name == "trestled" }
    package.targets.append(
        // The daemon without its entry point, as a library: a program cannot be linked into another.
        .target(name: "trestled", dependencies: daemonDependencies, exclude: ["Trestled.swift"]))
    package.targets.append(.target(name: "FuzzTargets", dependencies: fuzzed, path: "Fuzz/Targets"))
    for name in [
        "messages", "runtime", "streams", "process", "configuration", "query", "package", "setcookie",
        "cookiefile", "cachecontrol", "cost",
    ] {
        package.products.append(.executable(name: "fuzz-\(name)", targets: ["fuzz-\(name)"]))
        package.targets.append(
            .executableTarget(name: "fuzz-\(name)", dependencies: ["FuzzTargets"], path: "Fuzz/Programs/\(name)"))
    }
}

for target in package.targets where target.type != .system && target.swiftSettings == nil {
    target.swiftSettings = strict
}
