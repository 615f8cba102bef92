// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Files",
    products: [.library(name: "FilesPlugin", type: .dynamic, targets: ["FilesPlugin"])],
    dependencies: [.package(name: "trestle", path: "../..", traits: ["Testing"])],
    targets: [
        .target(name: "FilesPlugin", dependencies: [.product(name: "TaskKit", package: "trestle")]),
        .testTarget(
            name: "FilesTests",
            dependencies: ["FilesPlugin", .product(name: "TaskKitTesting", package: "trestle")]),
    ]
)
