import HTTPRules
import TaskKit

/// One request on the way to its response. Each redirect makes another hop.
struct Hop: Sendable {
    var url: WebURL
    /// The URL that a cache knows it by; nil: ``url``.
    var keyURL: WebURL?
    var method: String
    var headers: HeaderList
    var body: RequestBody?
    /// Whether the body of a response is to come as it was sent, its codings not undone. Called on the network's
    /// thread.
    var keepsCoding: (@Sendable (ResponseHead) -> Bool)?
    /// Called, on any thread, when all that belongs to the request is there, and it goes out.
    var onSend: (@Sendable () -> Void)?
}

/// The response to a hop. Its head is there; its body is still to be read.
struct HopResponse: Sendable {
    var head: ResponseHead
    var body: any ResponseSource
    /// Where it comes from: the member `from` of the result.
    var from = "network"
    /// The fields of the request that went out; nil: none did.
    var sent: HeaderList?
    /// What the store had to do with it; nil: nothing.
    var cache: CacheReport?
    /// The URL of the request, where an interceptor has changed it; nil: that of the hop.
    var url: WebURL?
}

/// What all hops of one fetch have in common. An object: each stage hands it on.
final class LoadContext: Sendable {
    let call: Call
    let settings: FetchSettings
    let request: FetchRequest
    let reach: Reach
    /// The fetch's right to run, held as long as something of it does.
    let ticket: TransferQuota.Ticket
    /// What goes on from hop to hop.
    let chain: HopChain
    /// Whose connections are used.
    var user: UInt32 { call.caller.uid }

    init(
        call: Call, settings: FetchSettings, request: FetchRequest, reach: Reach, ticket: TransferQuota.Ticket,
        chain: HopChain = HopChain()
    ) {
        (self.call, self.settings, self.request, self.reach) = (call, settings, request, reach)
        (self.ticket, self.chain) = (ticket, chain)
    }

    /// The same fetch with another request.
    func with(_ request: FetchRequest) -> LoadContext {
        LoadContext(call: call, settings: settings, request: request, reach: reach, ticket: ticket, chain: chain)
    }
}

/// One step of a hop. It answers the request, or passes it on, changed or not, and may change the response.
protocol HopStage: Sendable {
    /// Whether it has something to do with a request. It is passed over by the others.
    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool

    /// - Parameters:
    ///   - hop: The request.
    ///   - context: What it belongs to.
    ///   - next: The stages behind this one.
    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse
}

extension HopStage {
    /// All requests.
    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool { true }
}

/// Stages, in the order in which a request passes them. The last one answers each request.
struct HopWay: Sendable {
    private let stages: ArraySlice<any HopStage>

    init(_ stages: [any HopStage]) { self.stages = stages[...] }

    private init(_ stages: ArraySlice<any HopStage>) { self.stages = stages }

    func load(_ hop: Hop, _ context: LoadContext) async throws(BridgeError) -> HopResponse {
        guard let index = stages.firstIndex(where: { $0.concerns(hop, context) }) else {
            throw BridgeError(.internal, "no stage answers the request")
        }
        return try await stages[index].load(hop, context, HopWay(stages[(index + 1)...]))
    }
}
