import HTTPRules
import TaskKit

/// Upgrades requests to https for hosts that require TLS (HSTS), and stores the policies that hosts send.
struct HSTSStage: HopStage {
    let hosts: HSTSHosts
    /// Called when a policy has changed and must be stored.
    let onChange: @Sendable () -> Void

    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool {
        hop.url.scheme == .https || isUpgraded(hop, HSTSHosts.Partition(context))
    }

    private func isUpgraded(_ hop: Hop, _ partition: HSTSHosts.Partition) -> Bool {
        hop.url.scheme == .http && hosts.covers(hop.url.host, in: partition)
    }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        let partition = HSTSHosts.Partition(context)
        var hop = hop
        let isUpgraded = isUpgraded(hop, partition)
        if isUpgraded {
            do throws(AddressRefusal) { hop.url = try hop.url.upgraded() } catch { throw .invalidURL(error) }
        }
        var response = try await next.load(hop, context)
        if isUpgraded { response.url = response.url ?? hop.url }
        if hop.url.scheme == .https, response.from == "network", let policy = StrictTransport(response.head.headers),
            hosts.note(policy, of: hop.url.host, in: partition)
        {
            onChange()
        }
        return response
    }
}

extension HSTSHosts.Partition {
    init(_ context: LoadContext) {
        self.init(
            uid: context.user, profile: context.request.cookies.profile.text,
            site: context.reach.pageSite ?? "local")
    }
}
