import HTTPRules
import TaskKit

/// Removes the data that an https server names in `Clear-Site-Data`, before its response is used. ``CookieStage``
/// removes the cookies when it stores those of the response.
struct ClearSiteDataStage: HopStage {
    let data: WebsiteData

    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool { hop.url.scheme == .https }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        let response = try await next.load(hop, context)
        guard response.mayClearSiteData(hop) else { return response }
        let types = ClearSiteData(response.head.headers).originTypes
        guard !types.isEmpty else { return response }
        let selection = WebsiteSelection(profile: context.request.cookies.profile, origins: [hop.url.origin])
        for failure in await data.remove(types, selection, for: context.call).failures {
            context.call.log.warning(
                "Clear-Site-Data did not remove \(failure.types.joined(separator: ", ")): \(failure.message)")
        }
        return response
    }
}

extension HopResponse {
    /// Returns whether `Clear-Site-Data` applies: only in responses that a server has sent over https.
    func mayClearSiteData(_ hop: Hop) -> Bool { hop.url.scheme == .https && from == "network" }
}
