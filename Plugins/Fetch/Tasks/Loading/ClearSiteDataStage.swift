import HTTPRules
import TaskKit

/// Removes the data that a server over https says to remove, before its response is used.
struct ClearSiteDataStage: HopStage {
    let data: WebsiteData

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        let response = try await next.load(hop, context)
        guard hop.url.scheme == .https, response.from == "network" else { return response }
        let clearing = ClearSiteData(response.head.headers)
        guard !clearing.isNothing else { return response }
        let origin = hop.url.origin
        await remove(clearing.originTypes, WebsiteSelection(origins: [origin]), context)
        if clearing.clearsCookies {
            // Cookies are of the whole site: Clear Site Data, "clear cookies for origin".
            let name = data.sites.name(of: origin.host)
            await remove([CookieData().type], WebsiteSelection(names: [name]), context)
        }
        return response
    }

    private func remove(_ types: Set<String>, _ selection: WebsiteSelection, _ context: LoadContext) async {
        guard !types.isEmpty else { return }
        for failure in await data.remove(types, selection, for: context.call).failures {
            context.call.log.warning(
                "Clear-Site-Data did not remove \(failure.types.joined(separator: ", ")): \(failure.message)")
        }
    }
}
