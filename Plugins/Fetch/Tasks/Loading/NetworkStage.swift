import HTTPRules
import TaskKit

/// The last stage: sends the request to its server.
struct NetworkStage: HopStage {
    let network: Network

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        let transfer = try network.start(transferRequest(hop, context), for: context.user)
        guard case .head(let head) = try await transfer.next() else {
            throw .brokenProtocol("the server sent no status line")
        }
        return HopResponse(head: head, body: transfer)
    }

    private func transferRequest(_ hop: Hop, _ context: LoadContext) -> TransferRequest {
        let request = context.request
        return TransferRequest(
            url: hop.url, method: hop.method, headers: complete(hop, context.settings), body: hop.body,
            dropsRedirects: request.redirect != .manual, maximumBodyBytes: request.maximumBodyBytes,
            integrity: request.integrity, connectTimeout: request.connectTimeout, idleTimeout: request.idleTimeout,
            gate: context.settings.gate, tls: context.settings.tls, onProgress: request.onProgress)
    }

    /// The fields of a request, with those that callers leave out.
    private func complete(_ hop: Hop, _ settings: FetchSettings) -> HeaderList {
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
}
