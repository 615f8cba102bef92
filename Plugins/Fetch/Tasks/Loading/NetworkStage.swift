import HTTPRules
import TaskKit

/// The last stage: sends the request to its server.
struct NetworkStage: HopStage {
    let network: Network

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        let request = transferRequest(hop, context)
        let plugin = context.call.plugin
        let transfer = try network.start(request, for: context.user, post: { plugin.post($0) })
        hop.onSend?()
        guard case .head(let head) = try await transfer.next() else {
            throw .brokenProtocol("the server sent no status line")
        }
        return HopResponse(head: head, body: transfer, sent: request.headers)
    }

    private func transferRequest(_ hop: Hop, _ context: LoadContext) -> TransferRequest {
        let request = context.request
        return TransferRequest(
            url: hop.url, method: hop.method, headers: hop.completed(context.settings).headers, body: hop.body,
            dropsRedirects: request.redirect != .manual, keepsCoding: hop.keepsCoding,
            maximumBodyBytes: request.maximumBodyBytes,
            integrity: request.integrity, connectTimeout: request.connectTimeout, idleTimeout: request.idleTimeout,
            gate: context.settings.gate, proxy: context.settings.proxy, tls: context.settings.tls,
            onPhase: request.onPhase, onProgress: request.onProgress)
    }
}

extension Hop {
    /// Returns the request with default values for the fields that the caller has not set.
    func completed(_ settings: FetchSettings) -> Hop {
        var hop = self
        // A part of a coded body cannot be decoded.
        let codings = headers.contains(named: "Range") ? "identity" : ContentCoding.accepted
        let standard = [
            ("Accept", "*/*"), ("Accept-Encoding", codings), ("User-Agent", settings.userAgent),
            ("Content-Type", body?.type ?? ""),
        ]
        for (name, value) in standard where !value.isEmpty && !headers.contains(named: name) {
            _ = hop.headers.append(name: name, value: value)
        }
        return hop
    }
}
