// Everything that a plugin refuses in its section of the configuration.
import BridgeJSON
import EventLoop
import TaskRuntime

extension Configuration {
    /// Lets a plugin check its section until it has reported everything that it refuses. A plugin reports one mistake
    /// at a time, so it is asked again without the member that it has refused.
    ///
    /// - Parameter ask: Lets the plugin check a section.
    /// - Returns: The problems, with their locations; empty if the plugin accepts the section.
    @LoopActor
    func refusals(
        of plugin: String, _ ask: @LoopActor (JSON) async throws(BridgeError) -> Void
    ) async -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        var members = json(of: plugin).objectValue ?? [:]
        var refused: Set<String> = []
        while true {
            do throws(BridgeError) {
                try await ask(.object(members))
                return problems
            } catch {
                let member = error.data?["path"]?.stringValue.flatMap { section(of: plugin)?.member(at: $0) }
                // A member that is missing now may be one that was removed here.
                if !refused.isEmpty, member.map(refused.contains) ?? true { return problems }
                problems.append(problem(of: plugin, error))
                guard error.code == .configurationInvalid, let member, members[member] != nil else { return problems }
                refused.insert(member)
                members[member] = nil
            }
        }
    }
}
