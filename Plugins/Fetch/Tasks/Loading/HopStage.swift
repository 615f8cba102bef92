import HTTPRules
import TaskKit

/// One request of a fetch. Each redirect makes another hop.
struct Hop: Sendable {
    var url: WebURL
    /// The URL that identifies the hop in the cache; `nil` for ``url``.
    var keyURL: WebURL?
    var method: String
    var headers: HeaderList
    var body: RequestBody?
    /// Returns whether the body of a response is delivered as sent; `nil` if every body is decoded. Called on the
    /// network's thread.
    var keepsCoding: (@Sendable (ResponseHead) -> Bool)?
    /// Called on any thread when the request is complete and is sent; `nil` if no call is needed.
    var onSend: (@Sendable () -> Void)?
}

/// The response to a hop. Its head has arrived; its body has not been read.
struct HopResponse: Sendable {
    var head: ResponseHead
    var body: any ResponseSource
    /// The source of the response: the member `from` of the result.
    var from = "network"
    /// The fields of the request that was sent; `nil` if none was sent.
    var sent: HeaderList?
    /// The store's part in the response; `nil` if it has none.
    var cache: CacheReport?
    /// The URL of the request if a stage has changed it; `nil` for the URL of the hop.
    var url: WebURL?
}

/// The context that all hops of one fetch share. It is a class because each stage passes it on.
final class LoadContext: Sendable {
    let call: Call
    let settings: FetchSettings
    let request: FetchRequest
    let reach: Reach
    /// The fetch's right to run, held as long as a part of the fetch runs.
    let ticket: TransferQuota.Ticket
    /// The state that is passed from hop to hop.
    let chain: HopChain
    /// The user whose connections are used.
    var user: UInt32 { call.caller.uid }

    init(
        call: Call, settings: FetchSettings, request: FetchRequest, reach: Reach, ticket: TransferQuota.Ticket,
        chain: HopChain = HopChain()
    ) {
        (self.call, self.settings, self.request, self.reach) = (call, settings, request, reach)
        (self.ticket, self.chain) = (ticket, chain)
    }

    /// Returns the context of the same fetch with other options.
    func with(_ request: FetchRequest) -> LoadContext {
        LoadContext(call: call, settings: settings, request: request, reach: reach, ticket: ticket, chain: chain)
    }
}

/// One step of a hop. It answers the request or passes it on. It may change the request and the response.
protocol HopStage: Sendable {
    /// Returns whether the stage handles a request. Other requests skip the stage.
    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool

    /// Answers a request or passes it to the next stages.
    ///
    /// - Parameters:
    ///   - hop: The request.
    ///   - context: The context of the request's fetch.
    ///   - next: The stages after this one.
    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse
}

extension HopStage {
    /// Returns true: the stage handles all requests.
    func concerns(_ hop: Hop, _ context: LoadContext) -> Bool { true }
}

/// The stages in the order in which a request passes them. The last one answers each request.
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
