public import BridgeJSON
import Logging
import TaskRuntime

// The handover of plugins' session state to the next daemon. The state of one user must not cost another user a
// session: if a plugin fails for many sessions together, it is asked for fewer.

/// The state that plugins have saved for sessions that continue in another daemon.
public struct KeptSessions {
    /// The states by plugin name. A plugin may have several parts.
    public var states: [(plugin: String, state: JSON)] = []
    /// The sessions whose state a plugin could not save, with the reason.
    public var lost: [(session: UInt64, plugin: String, reason: String)] = []
}

extension PluginLoader {
    /// Asks every plugin for the state of these sessions for the next daemon.
    public func saveSessions(_ numbers: [UInt64]) async -> KeptSessions {
        var kept = KeptSessions()
        for plugin in runtime.plugins { await saveSessions(numbers, by: plugin, in: &kept) }
        return kept
    }

    /// The maximum duration of ``saveSessions(_:)``.
    public var keepingTime: Duration { settings.stopTimeout * (2 * runtime.plugins.count) }

    /// Asks a plugin for the state of these sessions. Usually one question for all sessions suffices. If it fails, the
    /// plugin is asked for each user and origin separately, and for ever fewer of these sessions if that fails too. So
    /// a user's sessions cost others at most one more question. All further questions together have the stop timeout
    /// once more, and each has half of the remaining time.
    func saveSessions(_ numbers: [UInt64], by plugin: PluginInstance, in kept: inout KeptSessions) async {
        guard !numbers.isEmpty else { return }
        var groups = [numbers]
        var next = 0
        var end: RuntimeInstant?
        while next < groups.count {
            let group = groups[next]
            next += 1
            let timeout = end.map { $0.since(runtime.clock.now) / 2 } ?? settings.stopTimeout
            do throws(BridgeError) {
                guard timeout >= Self.minimumTime || end == nil else {
                    throw BridgeError(.callTimeout, "the time limit passed before the plugin was asked")
                }
                let answer = try await perform(.saveSessions, plugin, Self.sessions(group), timeout: timeout)
                // A plugin without state omits `states` or the whole function.
                if let state = Self.part(of: answer, for: group) { kept.states.append((plugin.name, state)) }
            } catch {
                // A process that crashed has lost the state of all sessions.
                let isGone = error.code == .pluginCrashed
                if isGone || group.count == 1 || timeout < Self.minimumTime {
                    let lost = isGone ? [group] + groups[next...] : [group]
                    kept.lost += lost.joined().map { ($0, plugin.name, error.message) }
                    if isGone { return }
                } else if end == nil {
                    end = runtime.clock.now.advanced(by: settings.stopTimeout)
                    groups += sessionsByUser(group)
                } else {
                    groups += [Array(group[..<(group.count / 2)]), Array(group[(group.count / 2)...])]
                }
            }
        }
    }

    /// The minimum time for an answer. A plugin is not asked if less time is left.
    private static var minimumTime: Duration { .milliseconds(5) }

    private static func sessions(_ numbers: [UInt64]) -> JSON {
        ["sessions": .array(numbers.map { .number(JSONNumber($0)) })]
    }

    /// Returns the sessions grouped by user and origin, in their order. Omits those that have ended.
    private func sessionsByUser(_ numbers: [UInt64]) -> [[UInt64]] {
        struct Owner: Hashable {
            var uid: UInt32
            var origin: ExactText
        }
        var indices: [Owner: Int] = [:]
        var groups: [[UInt64]] = []
        for number in numbers {
            guard let session = runtime.session(number) else { continue }
            let owner = Owner(uid: session.peer.uid, origin: ExactText(session.origin))
            if let index = indices[owner] {
                groups[index].append(number)
            } else {
                indices[owner] = groups.count
                groups.append([number])
            }
        }
        return groups
    }

    /// Returns the part of a plugin's answer about these sessions; `nil` if it contains nothing about them.
    private static func part(of answer: JSON, for numbers: [UInt64]) -> JSON? {
        guard var parts = answer.objectValue, let states = parts["states"]?.objectValue, !states.isEmpty else {
            return nil
        }
        let wanted = Set(numbers)
        var part = JSONObject()
        for (number, state) in states where UInt64(number).map(wanted.contains) == true { part[number] = state }
        guard !part.isEmpty else { return nil }
        if part.count == states.count { return answer }
        parts["states"] = .object(part)
        return .object(parts)
    }

    /// Sends each plugin the state that it saved with ``saveSessions(_:)`` in the previous daemon: one user after the
    /// other, in parts that fit in a message. Each plugin has the start timeout for all parts together.
    ///
    /// - Returns: The sessions that cannot continue, with the reason.
    public func restoreSessions(_ states: [(plugin: String, state: JSON)]) async -> [(session: UInt64, reason: String)]
    {
        var lost: [(session: UInt64, reason: String)] = []
        var ends: [String: RuntimeInstant] = [:]
        for (name, state) in states {
            let known = state["states"]?.objectValue?.compactMap { UInt64($0.key) } ?? []
            guard let plugin = runtime.plugins.first(where: { $0.name == name }) else {
                lost += known.map { ($0, "the plugin \(name), which had state of this session, was removed") }
                continue
            }
            let end = ends[name] ?? runtime.clock.now.advanced(by: settings.startTimeout)
            ends[name] = end
            for group in sessionsByUser(known).flatMap({ parts(of: state, for: $0) }) {
                lost += await restoreSessions(group.numbers, group.state, by: plugin, until: end)
            }
        }
        return lost
    }

    /// Returns the state that a plugin saved of these sessions, in parts that fit in a message to its process.
    private func parts(of state: JSON, for numbers: [UInt64]) -> [(numbers: [UInt64], state: JSON)] {
        guard let part = Self.part(of: state, for: numbers) else { return [] }
        guard part.text.utf8.count > runtime.limits.messageBytes, numbers.count > 1 else { return [(numbers, part)] }
        let middle = numbers.count / 2
        return parts(of: part, for: Array(numbers[..<middle])) + parts(of: part, for: Array(numbers[middle...]))
    }

    private func restoreSessions(
        _ known: [UInt64], _ state: JSON, by plugin: PluginInstance, until end: RuntimeInstant
    ) async -> [(session: UInt64, reason: String)] {
        do throws(BridgeError) {
            let timeout = end.since(runtime.clock.now)
            guard timeout > .zero else {
                throw BridgeError(.callTimeout, "the time limit passed before the plugin was asked")
            }
            let answer = try await perform(.restoreSessions, plugin, state, timeout: timeout)
            let numbers = answer["lost"]?.arrayValue?.compactMap { UInt64($0.text) } ?? []
            return numbers.map { ($0, "the plugin \(plugin.name) cannot continue this session") }
        } catch {
            return known.map { ($0, "the plugin \(plugin.name) cannot continue this session: \(error.message)") }
        }
    }
}
