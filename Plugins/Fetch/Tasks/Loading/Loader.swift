import HTTPRules
import TaskKit

/// The checked options of a fetch.
struct FetchRequest: Sendable {
    enum RedirectMode: String, Codable, Sendable, CaseIterable {
        case follow
        case manual
        case error
    }

    var redirect: RedirectMode
    var cache: CachePolicy
    /// The key that distinguishes stored responses to the same URL; `nil` if the URL alone identifies them.
    var cacheKey: String?
    var maximumBodyBytes: Int64
    var integrity: IntegrityMetadata?
    var connectTimeout: Duration
    var idleTimeout: Duration
    var cookies = CookieUse()
    /// Whether the user is asked for a name and password if a server requires them.
    var authenticates = false
    /// Whether the caller requests a trace of requests and responses.
    var isTraced = false
    var onPhase: (@Sendable (TransferProgress.Phase) -> Void)?
    var onProgress: (@Sendable (TransferProgress) -> Void)?

    /// Returns the options for a hop that does not belong to a fetch.
    static func standard(_ settings: FetchSettings, _ url: WebURL, _ reach: Reach) -> FetchRequest {
        FetchRequest(
            redirect: .manual, cache: .useProtocol, maximumBodyBytes: settings.bodyBytes,
            connectTimeout: settings.connectTimeout, idleTimeout: settings.idleTimeout, cookies: .standard(url, reach))
    }
}

/// The final response to a fetch, after all redirects.
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

/// Performs a fetch hop by hop and follows redirects.
struct Loader: Sendable {
    /// The stages of each hop.
    let way: HopWay
    let context: LoadContext

    /// Loads the first hop and follows its redirects.
    ///
    /// - Returns: The first response that is not a redirect, or a redirect that the options do not follow.
    /// - Throws: The error of a hop; `http.redirects`, `http.refused`, `http.protocol`, `http.body_used`.
    func load(_ first: Hop) async throws(BridgeError) -> LoadedResponse {
        let mode = context.request.redirect
        var hop = first
        var redirects: [LoadedResponse.Redirect] = []
        while true {
            let response: HopResponse
            do throws(BridgeError) { response = try await way.load(hop, context) } catch {
                throw redirects.isEmpty ? error : error.afterRequest
            }
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

extension BridgeError {
    /// The error of a fetch that has sent a request before the one that failed.
    fileprivate var afterRequest: BridgeError {
        guard data?["started"] == false, var members = data?.objectValue else { return self }
        members["started"] = true
        return BridgeError(code, message, data: .object(members), isTransient: isTransient, retryAfter: retryAfter)
    }
}
