// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Clipboard",
    products: [.library(name: "ClipboardPlugin", type: .dynamic, targets: ["ClipboardPlugin"])],
    dependencies: [.package(name: "trestle", path: "../..", traits: ["Testing"])],
    targets: [
        .target(name: "ClipboardPlugin", dependencies: [.product(name: "TaskKit", package: "trestle")]),
        .testTarget(
            name: "ClipboardTests",
            dependencies: ["ClipboardPlugin", .product(name: "TaskKitTesting", package: "trestle")]),
    ]
)
