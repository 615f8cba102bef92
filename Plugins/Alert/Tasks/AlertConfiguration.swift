import Synchronization
import TaskKit

/// The plugin's section of the configuration.
struct AlertConfiguration: Codable, Sendable {
    /// Who is asked to show an alert, in this order; `["client", "log"]` unless said otherwise.
    var presenters: [PresenterName]?

    /// What operators read about the settings.
    static let settings: [String: JSON] = [
        "presenters": [
            "description": "The presenters of alerts, in the order of asking.", "default": ["client", "log"],
            "minItems": 1, "uniqueItems": true,
        ]
    ]

    /// - Throws: `JSONMismatch`, where it names no presenter, or one twice.
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

/// The presenters that there are.
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

    /// Who is asked, first to last; at least one.
    var presenters: [PresenterName] { names.withLock { $0 } }

    /// Takes over a configuration that has been checked. Alerts that are being shown go on in the old order.
    func apply(_ configuration: AlertConfiguration) {
        names.withLock { $0 = configuration.presenters ?? Self.standard }
    }
}
