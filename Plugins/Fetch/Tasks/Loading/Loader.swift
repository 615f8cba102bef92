import HTTPRules
import TaskKit

/// What is to be fetched, checked.
struct FetchRequest: Sendable {
    enum RedirectMode: String, Codable, Sendable, CaseIterable {
        case follow
        case manual
        case error
    }

    var redirect: RedirectMode
    var cache: CachePolicy
    /// What distinguishes stored responses to the same URL.
    var cacheKey: String?
    var maximumBodyBytes: Int64
    var integrity: IntegrityMetadata?
    var connectTimeout: Duration
    var idleTimeout: Duration
    var cookies = CookieUse()
    /// Whether the user is asked for name and password, where a server wants them.
    var authenticates = false
    /// Whether the caller wants to see what was asked and answered.
    var isTraced = false
    var onPhase: (@Sendable (TransferProgress.Phase) -> Void)?
    var onProgress: (@Sendable (TransferProgress) -> Void)?

    /// A request for one hop that no fetch is about.
    static func standard(_ settings: FetchSettings, _ url: WebURL, _ reach: Reach) -> FetchRequest {
        FetchRequest(
            redirect: .manual, cache: .useProtocol, maximumBodyBytes: settings.bodyBytes,
            connectTimeout: settings.connectTimeout, idleTimeout: settings.idleTimeout, cookies: .standard(url, reach))
    }
}

/// The response to a fetch: the last one, after all redirects.
struct LoadedResponse: Sendable {
    /// A redirect that was followed.
    struct Redirect: Sendable {
        var status: Int
        var url: WebURL
    }

    var url: WebURL
    var redirects: [Redirect]
    var last: HopResponse
}

/// Loads what is to be fetched: hop by hop, from redirect to redirect.
struct Loader: Sendable {
    /// The stages of each hop.
    let way: HopWay
    let context: LoadContext

    /// - Returns: The first response that is no redirect, or a redirect that is not to be followed.
    /// - Throws: The error of a hop; `http.redirects`, `http.refused`, `http.protocol`, `http.body_used`.
    func load(_ first: Hop) async throws(BridgeError) -> LoadedResponse {
        let mode = context.request.redirect
        var hop = first
        var redirects: [LoadedResponse.Redirect] = []
        while true {
            let response = try await way.load(hop, context)
            if let url = response.url { hop.url = url }
            guard response.head.isRedirect, mode != .manual else {
                return LoadedResponse(url: hop.url, redirects: redirects, last: response)
            }
            response.body.cancel()
            let target = try Redirects.target(of: response.head, from: hop.url, context.settings)
            guard mode == .follow, redirects.count < Redirects.maximum else { throw tooManyRedirects(target, mode) }
            redirects.append(.init(status: response.head.status, url: hop.url))
            try Redirects.apply(response.head.status, to: target, &hop)
        }
    }

    private func tooManyRedirects(_ target: WebURL, _ mode: FetchRequest.RedirectMode) -> BridgeError {
        let message =
            mode == .error
            ? "the server redirects, which the option redirect forbids"
            : "the server redirects more than \(Redirects.maximum) times"
        return BridgeError(.httpRedirects, message, data: ["url": .string(target.textWithFragment)])
    }
}
