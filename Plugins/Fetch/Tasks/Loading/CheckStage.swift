import HTTPRules
import TaskKit

/// Refuses URLs with a closed port or with an address that the address gate refuses.
struct CheckStage: HopStage {
    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        try check(hop.url, context)
        return try await next.load(hop, context)
    }

    private func check(_ url: WebURL, _ context: LoadContext) throws(BridgeError) {
        guard !ClosedPorts.isClosedPort(url.port) else {
            throw .refused(.port, "requests to port \(url.port) are not allowed", host: url.host)
        }
        // An address in the URL is refused immediately. Names are checked when they are resolved.
        if let address = url.host.address, let reason = context.settings.gate.reason(against: address) {
            throw AddressGate.refusal(reason, host: url.host, address: address)
        }
    }
}
