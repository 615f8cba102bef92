// swift-tools-version: 6.2
// What Trestle costs, measured. A package of its own, so that nobody who builds the daemon builds this;
// docs/performance.md in the repository says what is measured and how.
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// GNU extensions: they are used by what looks into /proc and by what searches bytes.
let gnu: [CSetting] = [.define("_GNU_SOURCE")]

let package = Package(
    name: "Benchmarks",
    products: [
        .executable(name: "bench", targets: ["bench"]),
        .executable(name: "micro", targets: ["micro"]),
        .executable(name: "floor", targets: ["floor"]),
        .executable(name: "load", targets: ["load"]),
        .executable(name: "provider", targets: ["provider"]),
        .executable(name: "crasher", targets: ["crasher"]),
        .executable(name: "flooder", targets: ["flooder"]),
        .executable(name: "victim", targets: ["victim"]),
        .executable(name: "sqlite-direct", targets: ["sqlite-direct"]),
        .executable(name: "streamer", targets: ["streamer"]),
        .executable(name: "reader", targets: ["reader"]),
        .executable(name: "origin", targets: ["origin"]),
        .executable(name: "curl-direct", targets: ["curl-direct"]),
        .executable(name: "fetcher", targets: ["fetcher"]),
        .library(name: "BenchmarkPlugin", type: .dynamic, targets: ["BenchmarkPlugin"]),
        .library(name: "malloc-count", type: .dynamic, targets: ["MallocCount"]),
    ],
    dependencies: [
        .package(name: "trestle", path: "..", traits: ["Testing"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // MARK: What is measured against, and what measures
        .executableTarget(name: "floor", cSettings: gnu, linkerSettings: [.linkedLibrary("uv")]),
        .executableTarget(name: "load", cSettings: gnu),
        .executableTarget(name: "provider", cSettings: gnu),
        .executableTarget(name: "crasher", cSettings: gnu),
        .executableTarget(name: "flooder", cSettings: gnu),
        .executableTarget(name: "victim", swiftSettings: strict),
        .executableTarget(name: "sqlite-direct", cSettings: gnu, linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "StreamClient", cSettings: gnu),
        .executableTarget(name: "streamer", dependencies: ["StreamClient"], cSettings: gnu),
        .executableTarget(name: "fetcher", dependencies: ["StreamClient"], cSettings: gnu),
        .executableTarget(name: "origin", cSettings: gnu),
        .executableTarget(name: "curl-direct", cSettings: gnu, linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(
            name: "reader", dependencies: [.product(name: "BridgeClient", package: "trestle")], swiftSettings: strict),
        .target(name: "MallocCount", cSettings: gnu),
        .target(name: "CEpoll"),

        // MARK: What is called
        .target(
            name: "BenchmarkPlugin", dependencies: [.product(name: "TaskKit", package: "trestle")],
            swiftSettings: strict),

        // MARK: What runs it all
        .executableTarget(
            name: "micro",
            dependencies: [
                "MallocCount",
                .product(name: "BridgeMessage", package: "trestle"),
                .product(name: "TaskRuntime", package: "trestle"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "bench",
            dependencies: ["CEpoll", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: strict),
    ]
)
