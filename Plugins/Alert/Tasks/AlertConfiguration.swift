import Synchronization
import TaskKit

/// The plugin's section of the configuration.
struct AlertConfiguration: Codable, Sendable {
    /// The presenters of alerts, in the order of asking; `nil` for `["client", "log"]`.
    var presenters: [PresenterName]?

    /// The description of the settings for operators.
    static let settings: [String: JSON] = [
        "presenters": [
            "description": "The presenters of alerts, in the order in which they are tried.",
            "default": ["client", "log"],
            "minItems": 1, "uniqueItems": true,
        ]
    ]

    /// - Throws: `JSONMismatch` if it names no presenter, or one presenter twice.
    func check() throws(JSONMismatch) {
        guard let presenters else { return }
        let known = PresenterName.allCases.map(\.rawValue).joined(separator: ", ")
        if presenters.isEmpty {
            throw JSONMismatch(path: "$.presenters", expected: "at least one of: \(known)", got: "an empty array")
        }
        if let second = presenters.indices.first(where: { presenters[..<$0].contains(presenters[$0]) }) {
            throw JSONMismatch(
                path: "$.presenters[\(second)]", expected: "a presenter that was not named before",
                got: "\(presenters[second]) again")
        }
    }
}

/// The available presenters.
enum PresenterName: String, Codable, Sendable, CaseIterable, CustomStringConvertible {
    case client
    case log

    var description: String { rawValue }

    var presenter: any Presenter {
        switch self {
        case .client: ClientPresenter()
        case .log: LogPresenter()
        }
    }
}

/// The presenters in their configured order. Any thread.
final class PresenterOrder: Sendable {
    private static let standard: [PresenterName] = [.client, .log]
    private let names = Mutex<[PresenterName]>(standard)

    /// The presenters in the order of asking; at least one.
    var presenters: [PresenterName] { names.withLock { $0 } }

    /// Applies a checked configuration. Alerts that are being shown continue in the old order.
    func apply(_ configuration: AlertConfiguration) {
        names.withLock { $0 = configuration.presenters ?? Self.standard }
    }
}
