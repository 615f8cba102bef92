public import BridgeJSON
import Logging
import TaskRuntime

// What plugins know of sessions, on its way from one daemon to the next.
extension PluginLoader {
    /// Asks every plugin what the next daemon has to know of these sessions.
    ///
    /// - Returns: By the plugins' names, what each answered; and the plugins that failed to, with the reason.
    public func keepSessions(
        _ numbers: [UInt64]
    ) async -> (states: [(plugin: String, state: JSON)], failures: [(plugin: String, reason: String)]) {
        let options: JSON = ["sessions": .array(numbers.map { .number(JSONNumber($0)) })]
        var states: [(plugin: String, state: JSON)] = []
        var failures: [(plugin: String, reason: String)] = []
        for plugin in runtime.plugins {
            do throws(BridgeError) {
                let answer = try await perform(.keepSessions, plugin, options, timeout: settings.stopTimeout)
                // A plugin that has nothing to say leaves them out, or the whole function.
                if answer["states"]?.objectValue?.count ?? 0 > 0 { states.append((plugin.name, answer)) }
            } catch {
                log.error("the plugin \(plugin.name) does not hand its sessions over: \(error.message)")
                failures.append((plugin.name, error.message))
            }
        }
        return (states, failures)
    }

    /// Hands each plugin what it answered to ``keepSessions(_:)`` in the daemon before.
    ///
    /// - Returns: The sessions that cannot go on, with the reason.
    public func restoreSessions(_ states: [(plugin: String, state: JSON)]) async -> [(session: UInt64, reason: String)]
    {
        var lost: [(session: UInt64, reason: String)] = []
        for (name, state) in states {
            let known = state["states"]?.objectValue?.compactMap { UInt64($0.key) } ?? []
            guard let plugin = runtime.plugins.first(where: { $0.name == name }) else {
                lost += known.map { ($0, "the plugin \(name), which knew something of this session, is gone") }
                continue
            }
            do throws(BridgeError) {
                let answer = try await perform(.restoreSessions, plugin, state)
                let numbers = answer["lost"]?.arrayValue?.compactMap { UInt64($0.text) } ?? []
                lost += numbers.map { ($0, "the plugin \(name) cannot go on with this session") }
            } catch {
                log.error("the plugin \(name) does not go on with its sessions: \(error.message)")
                lost += known.map { ($0, "the plugin \(name) cannot go on with this session: \(error.message)") }
            }
        }
        return lost
    }
}
