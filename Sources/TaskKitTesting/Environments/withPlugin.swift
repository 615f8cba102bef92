public import BridgeJSON
import EventLoop
import Glibc
import PrivateDaemon
public import TaskKit
import TaskHosts
import Testing

/// Runs the body of a test with a plugin in one environment, so that one test holds in all of them:
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
/// The built library is looked for where the test was built, Trestle's programs there, in the builds of the checkout
/// that TaskKitTesting comes from, and on the PATH; the environment variable `TRESTLE_BIN` names another folder. Where
/// something is missing, the test is skipped in that environment (`Test.cancel`), and a warning names what is missing:
/// it is not passed.
///
/// The environment variable `TRESTLE_TEST_SOCKET` names the socket of a daemon that runs already, has loaded the
/// plugin, and is to be used for ``PluginEnvironment/live``; it goes by its own configuration.
///
/// - Parameters:
///   - plugin: the plugin, which runs itself only in ``PluginEnvironment/inProcess``; elsewhere its name is all that
///     counts, and the library is what is tested: build it before the test, as `swift test` does.
///   - environment: where it runs.
///   - library: the library's path, or the name of its product, such as `GreeterPlugin`; nil: the product `XPlugin`
///     whose X is the plugin's name, or the only one that there is.
///   - configuration: the plugin's section of the configuration.
///   - body: the test, on no particular thread. When it ends the plugin is stopped, and its state is removed.
/// - Returns: what the body returns.
/// - Throws: what the body throws; ``BridgeError`` where the plugin refuses its configuration or does not start.
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

/// What there is; where something is missing, the test is skipped, and says why.
private func skipping(
    _ environment: PluginEnvironment, _ find: () throws(MissingBuildProduct) -> BuiltPlugin
) throws -> BuiltPlugin {
    do throws(MissingBuildProduct) { return try find() } catch {
        let reason = "Not tested \(environment): \(error)."
        // A case that is cancelled is not shown where the others of its test pass.
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
                "the daemon cannot use \(built.library): \(plugin?["error"]?.stringValue ?? "it is not there")")
        }
        let result = try await body(bridge)
        await daemon.stop()
        return result
    } catch {
        await daemon.stop()
        throw error
    }
}
