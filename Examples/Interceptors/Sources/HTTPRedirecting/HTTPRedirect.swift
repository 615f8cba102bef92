// httpredirect: redirects HTTP requests for one site to another, such as its successor.
import Synchronization
import TaskKit

/// Creates the plugin, for the daemon or for a test.
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
    /// Without sites, no request is intercepted.
    var tasks: [String] { sites.isEmpty ? [] : ["http.load"] }

    func intercept(_ call: InterceptedCall) async throws -> Decision {
        let request = try call.options(as: Request.self)
        guard let target = sites.target(of: request.url) else { return .pass }
        // 307 keeps method and body. The fetch follows it: all interceptors see the next request again, and the policy
        // decides whether the caller may reach the other site.
        let response: JSON = [
            "status": 307, "reason": "Temporary Redirect", "headers": [["Location", .string(target)]],
        ]
        return .answer(response)
    }
}

/// The part of a request that is compared.
struct Request: Codable, Sendable {
    var url: String
}

/// The map from sites to the sites that replace them.
final class Sites: Sendable {
    /// The plugin's section of the configuration.
    struct Section: Codable, Sendable {
        /// The origins whose requests are redirected, such as `https://old.example`, with the origin that replaces
        /// each.
        var sites: [String: String]?

        /// The descriptions of the settings, for operators.
        static let settings: [String: JSON] = [
            "sites": ["description": "From an origin, such as https://old.example, to the one that answers for it."]
        ]
    }

    private let section = Mutex(Section())

    func take(_ new: Section) { section.withLock { $0 = new } }

    var isEmpty: Bool { section.withLock { $0.sites ?? [:] }.isEmpty }

    /// Returns the same URL at the other site; `nil` if the URL is not redirected.
    func target(of url: String) -> String? {
        for (from, to) in section.withLock({ $0.sites ?? [:] }) where url.hasPrefix(from + "/") {
            return to + url.dropFirst(from.count)
        }
        return nil
    }
}
