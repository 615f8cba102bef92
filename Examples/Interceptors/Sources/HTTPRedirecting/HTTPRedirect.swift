// httpredirect: HTTP requests for one site go to another, such as the one that has taken its place.
import Synchronization
import TaskKit

/// The plugin, ready for the daemon or for a test.
public func makeHTTPRedirect() -> Plugin {
    let sites = Sites()
    return Plugin("httpredirect", version: "1.0.0")
        .configuration(
            PluginConfiguration(Sites.Section()), describing: Sites.Section.settings, reloadable: true,
            onChange: { section in sites.take(section) }
        )
        .interceptor(HTTPRedirect(sites: sites))
}

struct HTTPRedirect: Interceptor {
    static let name = "httpredirect.sites"
    static let summary = "Sends HTTP requests for a site to another one."

    let sites: Sites
    /// Without sites, requests do not come here.
    var tasks: [String] { sites.isEmpty ? [] : ["http.load"] }

    func intercept(_ call: InterceptedCall) async throws -> Decision {
        let request = try call.options(as: Request.self)
        guard let target = sites.target(of: request.url) else { return .pass }
        // 307 keeps method and body. The fetch follows it: the next request is shown to all interceptors again, and the
        // policy is asked whether the caller may reach the other site.
        let response: JSON = [
            "status": 307, "reason": "Temporary Redirect", "headers": [["Location", .string(target)]],
        ]
        return .answer(response)
    }
}

/// What is looked at of a request.
struct Request: Codable, Sendable {
    var url: String
}

/// Which site's requests go where.
final class Sites: Sendable {
    /// The plugin's section of the configuration.
    struct Section: Codable, Sendable {
        /// From an origin to the one whose server answers, such as `https://old.example`.
        var sites: [String: String]?

        /// What operators read about the settings.
        static let settings: [String: JSON] = [
            "sites": ["description": "From an origin, such as https://old.example, to the one that answers for it."]
        ]
    }

    private let section = Mutex(Section())

    func take(_ new: Section) { section.withLock { $0 = new } }

    var isEmpty: Bool { section.withLock { $0.sites ?? [:] }.isEmpty }

    /// The same URL at the other site; nil: it stays where it is.
    func target(of url: String) -> String? {
        for (from, to) in section.withLock({ $0.sites ?? [:] }) where url.hasPrefix(from + "/") {
            return to + url.dropFirst(from.count)
        }
        return nil
    }
}
