import HTTPRules
import TaskKit

/// Passes a hop through the runtime as a call of `http.load`, if an interceptor or the policy decides about it. The
/// policy decides about each origin outside a page's own site. All other hops continue immediately.
struct InterceptorStage: HopStage {
    /// The name of the task.
    static let task = "http.load"

    let pending: PendingHops

    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool {
        let marks = context.call.plugin.marks(ofTask: Self.task)
        if marks.contains(.intercepted) { return true }
        return !context.reach.isOwnSite(hop.url) && (marks.contains(.ruled) || !context.call.caller.isTrusted)
    }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        let call = context.call
        let entry = PendingHop(hop, context, next, shownBody: HopText.body(hop.body))
        let id = pending.add(entry)
        defer { pending.remove(id) }
        let options = HopText.options(hop, context, id: id, body: entry.shownBody)
        let answer: JSON = try await call.call(Self.task, options, timeout: .unlimited)
        return try await response(answer, entry)
    }

    private func response(_ answer: JSON, _ entry: PendingHop) async throws(BridgeError) -> HopResponse {
        if let properties = answer["properties"] { entry.context.chain.properties = properties }
        if let outcome = entry.outcome {
            if answer["held"] == true, let response = outcome.response { return response }
            var response = try HopText.response(answer, entry.context, isLoaded: true)
            response.url = outcome.url
            return response
        }
        var response = try HopText.response(answer, entry.context, isLoaded: false)
        // Only an interceptor answers without loading anything.
        if HopText.ownSources.contains(response.from) { response.from = HopText.interceptor }
        await HopCookies(entry.hop, entry.context)?.put(response.head.headers)
        return response
    }
}
