import Glibc
import HTTPRules
import TaskKit

/// Records each hop of a fetch whose caller requests a trace, as entries of a HAR without bodies.
struct TraceStage: HopStage {
    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool { context.request.isTraced }

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        let (begin, wall) = (ContinuousClock.now, timespec.wall)
        let response = try await next.load(hop, context)
        var asked = hop
        asked.url = response.url ?? hop.url
        asked.headers = response.sent ?? hop.headers
        let entry = HAREntry(
            hop: asked, head: response.head, body: nil, from: response.from, begin: wall,
            wait: ContinuousClock.now - begin, receive: .zero)
        context.chain.note(entry.json)
        return response
    }
}
