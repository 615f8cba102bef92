internal import CTaskPlugin

/// The conversion of a plugin's session states for the next daemon and from the previous one, with their type erased.
struct PluginHandover: Sendable {
    /// Returns the states of these sessions, by session number.
    let save: @Sendable ([SessionID]) async throws -> HandoverStates
    /// Restores the sessions from their states; returns the sessions that cannot continue.
    let restore: @Sendable (HandoverStates) async throws -> [SessionID]

    init<State: Codable & Sendable>(
        _: State.Type, save: @escaping @Sendable ([SessionID]) async throws -> [SessionID: State],
        restore: @escaping @Sendable ([SessionID: State]) async throws -> [SessionID]
    ) {
        self.save = { sessions in
            var states = HandoverStates(states: [:])
            for (session, state) in try await save(sessions) {
                states.states["\(session)"] = try JSONCoding.json(state)
            }
            return states
        }
        self.restore = { kept in
            var states: [SessionID: State] = [:]
            var lost: [SessionID] = []
            for (number, json) in kept.states {
                guard let session = SessionID(number) else { continue }
                // A state that another version wrote and this one cannot read must not end the other sessions.
                if let state = try? JSONCoding.decode(State.self, from: json) {
                    states[session] = state
                } else {
                    lost.append(session)
                }
            }
            return lost + (try await restore(states))
        }
    }
}

/// The options of `save_sessions`.
struct HandoverSessions: Decodable, Sendable {
    var sessions: [SessionID]
}

/// The result of `save_sessions`, and the options of `restore_sessions`.
struct HandoverStates: Codable, Sendable {
    /// The states by session number.
    var states: [String: JSON]
}

/// The result of `restore_sessions`.
struct HandoverLosses: Encodable, Sendable {
    var lost: [SessionID]
}

extension PluginRuntime {
    func saveSessions(_ request: UnsafePointer<trestle_request>) {
        do throws(JSONMismatch) {
            let asked = try JSONCoding.decode(HandoverSessions.self, from: request.pointee.options.buffer)
            perform(request) {
                var all = HandoverStates(states: [:])
                for handover in self.parts.handovers { all = try await handover.save(asked.sessions) }
                return all
            }
        } catch {
            host.fail(request.pointee.call, BridgeError(error))
        }
    }

    func restoreSessions(_ request: UnsafePointer<trestle_request>) {
        do throws(JSONMismatch) {
            let kept = try JSONCoding.decode(HandoverStates.self, from: request.pointee.options.buffer)
            perform(request) {
                var losses = HandoverLosses(lost: [])
                for handover in self.parts.handovers { losses.lost += try await handover.restore(kept) }
                return losses
            }
        } catch {
            host.fail(request.pointee.call, BridgeError(error))
        }
    }
}
