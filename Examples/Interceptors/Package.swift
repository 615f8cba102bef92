// swift-tools-version: 6.2
import PackageDescription

/// A plugin: its code, which the tests link, and its entry point, which becomes the library `lib<name>Plugin.so`.
struct Example {
    var code: String
    var name: String

    var product: Product { .library(name: "\(name)Plugin", type: .dynamic, targets: ["\(name)Plugin"]) }

    var targets: [Target] {
        let taskKit = Target.Dependency.product(name: "TaskKit", package: "trestle")
        return [
            .target(name: code, dependencies: [taskKit]),
            .target(name: "\(name)Plugin", dependencies: [.target(name: code), taskKit]),
        ]
    }
}

let examples = [
    Example(code: "Mocking", name: "Mock"), Example(code: "Caching", name: "Cache"),
    Example(code: "Redirecting", name: "Redirect"), Example(code: "Filtering", name: "Filter"),
    Example(code: "HTTPMocking", name: "HTTPMock"), Example(code: "HTTPRedirecting", name: "HTTPRedirect"),
]

let package = Package(
    name: "Interceptors",
    products: examples.map(\.product),
    dependencies: [.package(name: "trestle", path: "../..", traits: ["Testing"])],
    targets: examples.flatMap(\.targets) + [
        .testTarget(
            name: "InterceptorsTests",
            dependencies: [
                "Mocking", "Caching", "Redirecting", "Filtering", "HTTPMocking", "HTTPRedirecting",
                .product(name: "TaskKit", package: "trestle"), .product(name: "TaskKitTesting", package: "trestle"),
            ])
    ]
)
