// TaskKitTesting: runs a plugin in a test, with the real runtime and the real in-process host, a clock that only the
// test moves, and clients without sockets. A test that passes here also passes in the daemon: only the socket is
// missing.
public import BridgeJSON
import EventLoop
import Glibc
import Logging
import TaskHosts
public import TaskKit
import TaskRuntime

/// A bridge with some plugins, in the test's own process.
///
/// ```swift
/// let bridge = try await TestBridge.start(.greeter())
/// let session = await bridge.session()
/// let result = try await session.call("greet", ["who": "World"])
/// #expect(result == ["greeting": "Hello, World"])
/// await bridge.stop()
/// ```
///
/// Plugins run on the loop thread, as in the daemon. The functions below may be called on any thread.
public final class TestBridge: Sendable {
    /// The folder of the plugins' state. ``stop()`` removes it if this bridge created it.
    public let stateDirectory: String

    let core: TestCore
    private let ownsStateDirectory: Bool

    private init(core: TestCore, stateDirectory: String, ownsStateDirectory: Bool) {
        self.core = core
        self.stateDirectory = stateDirectory
        self.ownsStateDirectory = ownsStateDirectory
    }

    /// Configures and starts plugins and runs their launch workers.
    ///
    /// - Parameters:
    ///   - plugins: The plugins, in the order in which they are started.
    ///   - configuration: The plugins' sections, by name; absent ones are empty.
    ///   - stateDirectory: An existing folder to use and keep, for example for a second start with the same state;
    ///     `nil` for a new folder.
    ///   - daemonUID: The user that the bridge trusts, in addition to root.
    /// - Throws: A ``BridgeError`` if a plugin refuses its configuration or fails to start; ``LaunchFailure`` if a
    ///   required launch worker fails.
    public static func start(
        _ plugins: Plugin..., configuration: [String: JSON] = [:], stateDirectory: String? = nil,
        daemonUID: UInt32 = getuid()
    ) async throws -> TestBridge {
        let directory = try stateDirectory ?? TemporaryFolder.make()
        let core = await TestCore(daemonUID: daemonUID, stateDirectory: directory)
        let bridge = TestBridge(core: core, stateDirectory: directory, ownsStateDirectory: stateDirectory == nil)
        do {
            for plugin in plugins { try await core.add(PluginTableAddress(plugin), configuration) }
            try await core.launch()
        } catch {
            await bridge.stop()
            throw error
        }
        return bridge
    }

    /// Starts a bridge with a library in a plugin process.
    static func start(isolated built: BuiltPlugin, name: String, configuration: JSON) async throws -> TestBridge {
        let directory = try TemporaryFolder.make()
        let core = await TestCore(daemonUID: getuid(), stateDirectory: directory)
        let bridge = TestBridge(core: core, stateDirectory: directory, ownsStateDirectory: true)
        do {
            try await core.add(isolated: built, [name: configuration])
            try await core.launch()
        } catch {
            await bridge.stop()
            throw error
        }
        return bridge
    }

    /// Connects a client.
    ///
    /// - Parameters:
    ///   - uid: The client's user; by default the daemon's own, which may do everything.
    ///   - origin: The origin that the client represents, as a page does; it may then call only public tasks. `nil` to
    ///     specify none.
    public func session(uid: UInt32? = nil, origin: String? = nil) async -> TestSession {
        await core.open(uid: uid, origin: origin)
    }

    /// Advances the clock. Deadlines within that time take effect in their order.
    public func advance(by duration: Duration) async { await core.advance(duration) }

    /// Stops all plugins, and removes the state if the bridge created it.
    public func stop() async {
        await core.stop()
        if ownsStateDirectory { TemporaryFolder.remove(stateDirectory) }
    }

    /// Returns the lines that were written to the log so far: level and text, such as "warning: the disk is slow".
    public func logLines() -> [String] { core.logLines.all }
}

/// A plugin's table, passed to the loop thread.
struct PluginTableAddress: @unchecked Sendable {  // constant; see below
    // Created once, never changed, and valid until the process ends, as the plugin interface requires.
    let address: UnsafeRawPointer

    init(_ plugin: Plugin) { address = UnsafeRawPointer(plugin.export()) }
}
