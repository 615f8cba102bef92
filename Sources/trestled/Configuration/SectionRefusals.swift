// Everything that a plugin refuses of its section of the configuration.
import BridgeJSON
import EventLoop
import TaskRuntime

extension Configuration {
    /// Asks a plugin about its section until it has named everything that it refuses. A plugin names one mistake at a
    /// time: it is asked again without the member that it has refused.
    ///
    /// - Parameter ask: has the plugin check a section.
    /// - Returns: what is wrong, with its locations; empty: the plugin takes the section.
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
                // What is missing now may be what was left out here.
                if !refused.isEmpty, member.map(refused.contains) ?? true { return problems }
                problems.append(problem(of: plugin, error))
                guard error.code == .configurationInvalid, let member, members[member] != nil else { return problems }
                refused.insert(member)
                members[member] = nil
            }
        }
    }
}
