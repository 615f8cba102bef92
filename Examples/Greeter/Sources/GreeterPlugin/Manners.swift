import Synchronization
import TaskKit

/// The configuration, and the number of signatures of each session.
final class Manners: Sendable {
    /// The plugin's section of the configuration.
    struct Section: Codable, Sendable {
        /// The number of times that a session may sign; by default one.
        var signatures: Int?

        /// The descriptions of the settings, for operators.
        static let settings: [String: JSON] = [
            "signatures": ["description": "How often a session may sign.", "default": 1, "minimum": 1]
        ]

        func check() throws {
            if let signatures, signatures < 1 {
                throw BridgeError(
                    .configurationInvalid, "signatures is \(signatures); it must be at least 1",
                    data: ["path": "$.signatures", "expected": "at least 1", "got": .string("\(signatures)")])
            }
        }
    }

    private let section = Mutex(Section())
    private let signed = Mutex<[SessionID: Int]>([:])

    func take(_ new: Section) {
        section.withLock { $0 = new }
    }

    /// Counts a signature; returns false if the session has reached its maximum.
    func allows(_ session: SessionID) -> Bool {
        let maximum = section.withLock { $0.signatures } ?? 1
        return signed.withLock { signed in
            if signed[session, default: 0] >= maximum { return false }
            signed[session, default: 0] += 1
            return true
        }
    }

    func forget(_ session: SessionID) {
        signed.withLock { $0[session] = nil }
    }
}
