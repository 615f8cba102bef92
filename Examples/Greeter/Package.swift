// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Greeter",
    products: [.library(name: "GreeterPlugin", type: .dynamic, targets: ["GreeterPlugin"])],
    dependencies: [.package(name: "trestle", path: "../..", traits: ["Testing"])],
    targets: [
        .target(name: "GreeterPlugin", dependencies: [.product(name: "TaskKit", package: "trestle")]),
        .testTarget(
            name: "GreeterTests",
            dependencies: ["GreeterPlugin", .product(name: "TaskKitTesting", package: "trestle")]),
    ]
)
