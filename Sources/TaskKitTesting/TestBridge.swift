// TaskKitTesting: a plugin in a test. The real runtime and the real in-process host, a clock that stands still until
// the test moves it, and clients without sockets. What passes here passes in the daemon: only the socket is missing.
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
/// Plugins run on the loop thread, as in the daemon. Any thread may call the functions below.
public final class TestBridge: Sendable {
    /// Where the plugins keep their state: a folder of this bridge's own, removed by ``stop()``, unless one was given.
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
    ///   - plugins: in the order in which they are started.
    ///   - configuration: the plugins' sections, by name; absent ones are empty.
    ///   - stateDirectory: an existing folder to keep, as for a second start on the same state; nil: a new one.
    ///   - daemonUID: whom the bridge trusts beside root.
    /// - Throws: ``BridgeError`` where a plugin refuses its configuration or fails to start, ``LaunchFailure`` where a
    ///   required launch worker fails.
    public static func start(
        _ plugins: Plugin..., configuration: [String: JSON] = [:], stateDirectory: String? = nil,
        daemonUID: UInt32 = getuid()
    ) async throws -> TestBridge {
        let directory = try stateDirectory ?? TemporaryFolder.make()
        let core = await TestCore(daemonUID: daemonUID, stateDirectory: directory)
        let bridge = TestBridge(core: core, stateDirectory: directory, ownsStateDirectory: stateDirectory == nil)
        do {
            for plugin in plugins { try await core.add(PluginTable(plugin), configuration) }
            try await core.launch()
        } catch {
            await bridge.stop()
            throw error
        }
        return bridge
    }

    /// The same with a library in a process of its own.
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

    /// A client that has just connected.
    ///
    /// - Parameters:
    ///   - uid: its user; by default the daemon's own, which may do everything.
    ///   - origin: what it speaks for, a page: it may only call tasks that are open; nil: it names nothing.
    public func session(uid: UInt32? = nil, origin: String? = nil) async -> TestSession {
        await core.open(uid: uid, origin: origin)
    }

    /// Moves the clock on. Deadlines that come on the way take effect in their order.
    public func advance(by duration: Duration) async { await core.advance(duration) }

    /// Has all plugins finish, and removes the state, where it is the bridge's own.
    public func stop() async {
        await core.stop()
        if ownsStateDirectory { TemporaryFolder.remove(stateDirectory) }
    }

    /// The lines that plugins wrote to the log so far: level and text, such as "warning: the disk is slow".
    public func logLines() -> [String] { core.logLines.all }
}

/// A plugin's table on its way to the loop thread.
struct PluginTable: @unchecked Sendable {  // constant; see below
    // Made once, never written again, and valid until the process ends, as the plugin interface demands.
    let address: UnsafeRawPointer

    init(_ plugin: Plugin) { address = UnsafeRawPointer(plugin.export()) }
}
