import BridgeJSON
import EventLoop

/// A plugin whose process has been started and has not sent its manifest yet.
@LoopActor
public struct StartingPlugin {
    let command: PluginProcessCommand
    let host: PluginProcessHost
    let supervisor: PluginProcessSupervisor
    private let greeting: Task<Result<JSON, BridgeError>, Never>

    init(_ command: PluginProcessCommand, _ host: PluginProcessHost, _ supervisor: PluginProcessSupervisor) {
        (self.command, self.host, self.supervisor) = (command, host, supervisor)
        greeting = Task.immediate { @LoopActor in
            do throws(BridgeError) { return .success(try await supervisor.start()) } catch { return .failure(error) }
        }
    }

    /// Waits for the process's manifest.
    ///
    /// - Throws: `plugin.unavailable` if the process does not start.
    func manifest() async throws(BridgeError) -> JSON { try await greeting.value.get() }
}
