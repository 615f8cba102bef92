public import BridgeJSON
import Logging
import TaskRuntime

// What plugins know of sessions, on its way from one daemon to the next. A user's share of it never costs another user
// a session: where a plugin fails for many sessions together, it is asked for fewer.

/// What plugins know of sessions that go on in another daemon.
public struct KeptSessions {
    /// By the plugins' names, each in one part or in several.
    public var states: [(plugin: String, state: JSON)] = []
    /// The sessions of which a plugin could not say what it knows, and why.
    public var lost: [(session: UInt64, plugin: String, reason: String)] = []
}

extension PluginLoader {
    /// Asks every plugin what the next daemon has to know of these sessions.
    public func saveSessions(_ numbers: [UInt64]) async -> KeptSessions {
        var kept = KeptSessions()
        for plugin in runtime.plugins { await saveSessions(numbers, by: plugin, in: &kept) }
        return kept
    }

    /// How long ``saveSessions(_:)`` takes at the longest.
    public var keepingTime: Duration { settings.stopTimeout * (2 * runtime.plugins.count) }

    /// Asks a plugin what it knows of these sessions: of all together, which is one question as a rule. Where that
    /// fails, of each user's for each origin, and where that fails of ever fewer of these, so that a user's sessions
    /// cost others no more than one more question. All further questions together have the stop timeout once more, and
    /// each half of what is left of that.
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
                    throw BridgeError(.callTimeout, "the plugin had no more time for it")
                }
                let answer = try await perform(.saveSessions, plugin, Self.sessions(group), timeout: timeout)
                // A plugin that has nothing to say leaves them out, or the whole function.
                if let state = Self.part(of: answer, for: group) { kept.states.append((plugin.name, state)) }
            } catch {
                // With its process has gone what it knew, of whomever that was.
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

    /// A plugin that is given less than this for an answer is not asked.
    private static var minimumTime: Duration { .milliseconds(5) }

    private static func sessions(_ numbers: [UInt64]) -> JSON {
        ["sessions": .array(numbers.map { .number(JSONNumber($0)) })]
    }

    /// The sessions of each user, and of each origin that they speak for, in their order. Those that have gone are left
    /// out.
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

    /// What of a plugin's answer is about these sessions; nil: nothing.
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

    /// Hands each plugin what it answered to ``saveSessions(_:)`` in the daemon before: of one user's sessions after
    /// the other's, and no more in a message than a message holds. All of it has the start timeout, for each plugin.
    ///
    /// - Returns: The sessions that cannot go on, with the reason.
    public func restoreSessions(_ states: [(plugin: String, state: JSON)]) async -> [(session: UInt64, reason: String)]
    {
        var lost: [(session: UInt64, reason: String)] = []
        var ends: [String: RuntimeInstant] = [:]
        for (name, state) in states {
            let known = state["states"]?.objectValue?.compactMap { UInt64($0.key) } ?? []
            guard let plugin = runtime.plugins.first(where: { $0.name == name }) else {
                lost += known.map { ($0, "the plugin \(name), which knew something of this session, is gone") }
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

    /// What a plugin has said of these sessions, in parts that a message to its process holds.
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
            guard timeout > .zero else { throw BridgeError(.callTimeout, "the plugin had no more time for it") }
            let answer = try await perform(.restoreSessions, plugin, state, timeout: timeout)
            let numbers = answer["lost"]?.arrayValue?.compactMap { UInt64($0.text) } ?? []
            return numbers.map { ($0, "the plugin \(plugin.name) cannot continue this session") }
        } catch {
            return known.map { ($0, "the plugin \(plugin.name) cannot continue this session: \(error.message)") }
        }
    }
}
