import HTTPRules
import TaskKit

/// What is to be fetched, checked.
struct FetchRequest: Sendable {
    enum RedirectMode: String, Codable, Sendable, CaseIterable {
        case follow
        case manual
        case error
    }

    var hop: Hop
    var redirect: RedirectMode
    var maximumBodyBytes: Int64
    var integrity: IntegrityMetadata?
    var connectTimeout: Duration
    var idleTimeout: Duration
    var onProgress: (@Sendable (TransferProgress) -> Void)?
}

/// A response, whose body is still to be read.
struct LoadedResponse: Sendable {
    struct Redirect: Sendable {
        var status: Int
        var url: WebURL
    }

    var url: WebURL
    var redirects: [Redirect]
    var head: ResponseHead
    var transfer: RunningTransfer
}

/// Carries out requests, redirect by redirect.
struct Loader: Sendable {
    let network: Network
    let settings: FetchSettings
    let user: UInt32
    /// Where the caller may go.
    let reach: Reach

    /// Loads what is to be fetched.
    ///
    /// - Returns: The response that is no redirect, or not to be followed.
    /// - Throws: Why there is none.
    func load(_ request: FetchRequest) async throws(BridgeError) -> LoadedResponse {
        var hop = request.hop
        var redirects: [LoadedResponse.Redirect] = []
        while true {
            try check(hop.url)
            let transfer = try network.start(transferRequest(hop, request), for: user)
            guard case .head(let head) = try await transfer.next() else {
                throw .brokenProtocol("the server sent no status line")
            }
            guard head.isRedirect, request.redirect != .manual else {
                return LoadedResponse(url: hop.url, redirects: redirects, head: head, transfer: transfer)
            }
            let target = try Redirects.target(of: head, from: hop.url, settings)
            guard request.redirect == .follow, redirects.count < Redirects.maximum else {
                throw tooManyRedirects(target, request.redirect)
            }
            redirects.append(.init(status: head.status, url: hop.url))
            try Redirects.apply(head.status, to: target, &hop)
        }
    }

    private func check(_ url: WebURL) throws(BridgeError) {
        guard !ClosedPorts.isClosedPort(url.port) else {
            throw .refused(.port, "the port \(url.port) is closed to requests", host: url.host)
        }
        try reach.check(url)
        // An address in the URL is refused before anything is done.
        if let address = url.host.address, let reason = settings.gate.reason(against: address) {
            throw AddressGate.refusal(reason, host: url.host, address: address)
        }
    }

    private func transferRequest(_ hop: Hop, _ request: FetchRequest) -> TransferRequest {
        TransferRequest(
            url: hop.url, method: hop.method, headers: complete(hop), body: hop.body,
            dropsRedirects: request.redirect != .manual, maximumBodyBytes: request.maximumBodyBytes,
            integrity: request.integrity, connectTimeout: request.connectTimeout, idleTimeout: request.idleTimeout,
            gate: settings.gate, tls: settings.tls, onProgress: request.onProgress)
    }

    /// The fields of a request, with those that callers leave out.
    private func complete(_ hop: Hop) -> HeaderList {
        var headers = hop.headers
        // A part of a coded body cannot be decoded.
        let codings = headers.contains(named: "Range") ? "identity" : ContentCoding.accepted
        let standard = [
            ("Accept", "*/*"), ("Accept-Encoding", codings), ("User-Agent", settings.userAgent),
            ("Content-Type", hop.body?.type ?? ""),
        ]
        for (name, value) in standard where !value.isEmpty && !headers.contains(named: name) {
            _ = headers.append(name: name, value: value)
        }
        return headers
    }

    private func tooManyRedirects(_ target: WebURL, _ mode: FetchRequest.RedirectMode) -> BridgeError {
        let message =
            mode == .error
            ? "the server redirects, which the option redirect forbids"
            : "the server redirects more than \(Redirects.maximum) times"
        return BridgeError(.httpRedirects, message, data: ["url": .string(target.textWithFragment)])
    }
}
