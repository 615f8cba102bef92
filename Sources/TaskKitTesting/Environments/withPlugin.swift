public import BridgeJSON
import EventLoop
import Glibc
import PrivateDaemon
public import TaskKit
import TaskHosts
import Testing

/// Runs the body of a test with a plugin in one environment, so that one test works in all environments:
///
/// ```swift
/// @Test(arguments: PluginEnvironment.all)
/// func greets(environment: PluginEnvironment) async throws {
///     try await withPlugin(makeGreeter(), in: environment) { bridge in
///         let answer = try await bridge.call("greet", ["who": "World"])
///         #expect(answer == ["greeting": "Hello, World"])
///     }
/// }
/// ```
///
/// The built library is expected in the folder where the test was built. Trestle's programs are searched in that
/// folder, in the builds of the checkout that contains TaskKitTesting, and on the PATH. The environment variable
/// `TRESTLE_BIN` specifies another folder. If something is missing, the test is skipped in that environment
/// (`Test.cancel`) and does not count as passed; a warning names what is missing.
///
/// The environment variable `TRESTLE_TEST_SOCKET` names the socket of a running daemon that has loaded the plugin, to
/// be used for ``PluginEnvironment/live``. That daemon uses its own configuration.
///
/// - Parameters:
///   - plugin: The plugin. This value runs only in ``PluginEnvironment/inProcess``. In the other environments only its
///     name is used, and the test runs the library: build it before the test, as `swift test` does.
///   - environment: The environment in which the plugin runs.
///   - library: The library's path, or the name of its product, such as `GreeterPlugin`; `nil` for the product
///     `XPlugin` where X is the plugin's name, or the only such product.
///   - configuration: The plugin's section of the configuration.
///   - body: The test, on no particular thread. When it ends, the plugin is stopped and its state is removed.
/// - Returns: The value that the body returns.
/// - Throws: The errors of the body; a ``BridgeError`` if the plugin refuses its configuration or does not start.
public func withPlugin<R: Sendable>(
    _ plugin: @autoclosure () -> Plugin, in environment: PluginEnvironment, library: String? = nil,
    configuration: JSON = [:], _ body: (PluginBridge) async throws -> R
) async throws -> R {
    let plugin = plugin()
    switch environment {
    case .inProcess:
        let bridge = try await TestBridge.start(plugin, configuration: [plugin.name: configuration])
        return try await run(body, in: environment, on: bridge)
    case .isolated:
        let built = try skipping(environment) { () throws(MissingBuildProduct) in
            let built = try BuiltPlugin(plugin.name, library: library)
            guard built.programs.pluginHost != nil else {
                throw MissingBuildProduct("trestle-plugin-host is not beside \(built.programs.daemon)")
            }
            return built
        }
        let bridge = try await TestBridge.start(isolated: built, name: plugin.name, configuration: configuration)
        return try await run(body, in: environment, on: bridge)
    case .live:
        if let socket = BuiltPlugin.variable(BuiltPlugin.socketVariable) {
            return try await body(
                PluginBridge(environment, pass: { try await Task.sleep(for: $0) }) { try await .live(socket) })
        }
        let built = try skipping(environment) { () throws(MissingBuildProduct) in
            try BuiltPlugin(plugin.name, library: library)
        }
        return try await run(body, live: built, TOMLText.section(plugin.name, configuration))
    }
}

/// Returns the build products. If something is missing, skips the test and reports the reason.
private func skipping(
    _ environment: PluginEnvironment, _ find: () throws(MissingBuildProduct) -> BuiltPlugin
) throws -> BuiltPlugin {
    do throws(MissingBuildProduct) { return try find() } catch {
        let reason = "Not tested \(environment): \(error)."
        // A cancelled case is not shown if the other cases of its test pass.
        Issue.record(Comment(rawValue: reason), severity: .warning)
        try Test.cancel(Comment(rawValue: reason))
    }
}

private func run<R: Sendable>(
    _ body: (PluginBridge) async throws -> R, in environment: PluginEnvironment, on bridge: TestBridge
) async throws -> R {
    do {
        let result = try await body(
            PluginBridge(environment, pass: { await bridge.advance(by: $0) }) { PluginSession(await bridge.session()) })
        await bridge.stop()
        return result
    } catch {
        await bridge.stop()
        throw error
    }
}

private func run<R: Sendable>(
    _ body: (PluginBridge) async throws -> R, live built: BuiltPlugin, _ configuration: String
) async throws -> R {
    let folder = try PrivateFolder(for: "test")
    defer { folder.remove() }
    try folder.offer(built.library)
    try folder.configure(configuration)
    let daemon: PrivateDaemon
    do {
        daemon = try await PrivateDaemon.start(PrivateDaemon.Settings(daemon: built.programs.daemon), in: folder)
    } catch let error as PrivateDaemonError {
        throw BridgeError(.pluginUnavailable, "the daemon does not start with \(built.library): \(error)")
    }
    do {
        let bridge = try await PluginBridge(.live, pass: { try await Task.sleep(for: $0) }) {
            try await .live(folder.socketPath)
        }
        let plugin = try await bridge.call("bridge.plugins")["plugins"]?[0]
        guard plugin?["state"] == "running" else {
            throw BridgeError(
                .pluginUnavailable,
                "the daemon cannot use \(built.library): \(plugin?["error"]?.stringValue ?? "it does not list it")")
        }
        let result = try await body(bridge)
        await daemon.stop()
        return result
    } catch {
        await daemon.stop()
        throw error
    }
}
