// swift-tools-version: 6.2
// trestle-web: a web container over WebKitGTK. It is a separate package, so that the daemon never links GTK.
// The targets are listed in the order of docs/web.md, lowest first; each imports only targets above it.
import PackageDescription

/// The settings of all Swift targets. The tools version sets the language mode.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A module of the main package.
func trestle(_ name: String) -> Target.Dependency { .product(name: name, package: "trestle") }

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// The JavaScript of the module PageBridge.
let bridgeScripts =
    ["handlers", "porter", "shim"].map { "Scripts/\($0).js" }
    + [
        "capacitor", "cordova", "exports", "functions", "messageHandlers", "packageBodies", "urlCalls", "webBridge",
        "webViewJavascriptBridge",
    ].map { "Dialects/\($0).js" }

let package = Package(
    name: "Web",
    products: [.executable(name: "trestle-web", targets: ["trestle-web"])],
    dependencies: [
        .package(name: "trestle", path: "..", traits: ["Web"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // MARK: C modules
        .systemLibrary(name: "CWebKitGTK", pkgConfig: "webkitgtk-6.0", providers: [.apt(["libwebkitgtk-6.0-dev"])]),

        // MARK: Base modules
        .target(name: "MainLoop", dependencies: ["CWebKitGTK", trestle("EventLoop")]),
        .target(
            name: "WebProfiles",
            dependencies: [
                trestle("FileTrust"), trestle("OfflinePackages"), trestle("TOMLDocument"), trestle("WebOrigins"),
            ]),
        .target(name: "WebPackages", dependencies: [trestle("OfflinePackages")]),

        // MARK: The engine, and the bridge of one document
        .target(name: "WebKitViews", dependencies: ["CWebKitGTK", "MainLoop"]),
        .target(
            name: "PageBridge", dependencies: ["MainLoop", "WebProfiles", trestle("BridgeJSON")],
            resources: bridgeScripts.map { .embedInCode($0) }),

        // MARK: The container
        .target(
            name: "WebContainer",
            dependencies: [
                "MainLoop", "PageBridge", "WebKitViews", "WebPackages", "WebProfiles", trestle("BridgeJSON"),
                trestle("EventLoop"), trestle("OfflinePackages"),
            ],
            resources: [.embedInCode("Scripts/keep.js")]),
        .target(
            name: "WebTasks",
            dependencies: [
                "MainLoop", "PageBridge", "WebContainer", "WebKitViews", "WebProfiles", trestle("BridgeClient"),
                trestle("BridgeJSON"), trestle("LaunchWorkers"),
            ]),
        .executableTarget(
            name: "trestle-web",
            dependencies: [
                "MainLoop", "WebContainer", "WebKitViews", "WebPackages", "WebProfiles", "WebTasks",
                trestle("BridgeClient"), trestle("BridgeJSON"), trestle("CommandLineSupport"),
                trestle("LaunchWorkers"), trestle("OfflinePackages"), trestle("ServiceManager"), argumentParser,
            ]),

        // MARK: Tests
        .executableTarget(name: "engine-probe", dependencies: ["CWebKitGTK"], path: "Tests/EngineProbe"),
        .executableTarget(name: "fake-login-manager", dependencies: ["CWebKitGTK"], path: "Tests/FakeLoginManager"),
        .testTarget(name: "WebFacts", dependencies: ["engine-probe", trestle("TestSupport")]),
        .testTarget(name: "MainLoopTests", dependencies: ["MainLoop", trestle("EventLoop")]),
        .testTarget(
            name: "WebProfilesTests",
            dependencies: [
                "WebProfiles", trestle("EventLoop"), trestle("TestSupport"), trestle("TOMLDocument"),
            ]),
        .testTarget(
            name: "WebPackagesTests",
            dependencies: ["WebPackages", trestle("OfflinePackages"), trestle("TestSupport")]),
        .testTarget(name: "PageBridgeTests", dependencies: ["PageBridge", "WebProfiles", trestle("BridgeJSON")]),
        .testTarget(name: "WebTasksTests", dependencies: ["WebContainer", "WebKitViews", "WebTasks"]),
        .testTarget(name: "WebContainerTests", dependencies: ["PageBridge", "WebContainer", "WebProfiles"]),
        .testTarget(
            name: "trestle-webTests",
            dependencies: [
                "fake-login-manager", "trestle-web", trestle("BridgeClient"), trestle("BridgeJSON"),
                trestle("EventLoop"), trestle("OfflinePackages"), trestle("PrivateDaemon"), trestle("TestSupport"),
            ],
            path: "Tests/ProgramTests", exclude: ["Support/odd_server.py", "Support/page_server.py"]),
    ]
)

for target in package.targets where target.type != .system && target.swiftSettings == nil {
    target.swiftSettings = strict
}
