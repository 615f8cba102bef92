// swift-tools-version: 6.2
// TaskKit only, as installed for authors of plugins: `trestle plugin new` refers to this folder. The sources of Trestle
// contain the same package with the test kit.
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "trestle",
    products: [.library(name: "TaskKit", targets: ["TaskKit"])],
    // So a plugin's manifest can specify `traits: []` for this package and for the sources.
    traits: [
        .default(enabledTraits: []), .trait(name: "Testing", description: "The test kit is in Trestle's sources."),
    ],
    targets: [
        .target(name: "CBase64", path: "Sources/C/CBase64"),
        .target(name: "CTaskPlugin", path: "Sources/C/CTaskPlugin"),
        .target(name: "CThread", path: "Sources/C/CThread"),
        .target(name: "BridgeJSON", dependencies: ["CBase64"], swiftSettings: strict),
        .target(name: "BlockingLanes", dependencies: ["CThread"], swiftSettings: strict),
        .target(name: "ByteStreams", dependencies: ["BlockingLanes", "BridgeJSON"], swiftSettings: strict),
        .target(
            name: "TaskKit", dependencies: ["BlockingLanes", "BridgeJSON", "ByteStreams", "CTaskPlugin"],
            swiftSettings: strict),
    ]
)
