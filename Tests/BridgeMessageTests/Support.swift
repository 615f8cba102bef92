import BridgeJSON
import BridgeMessage
import Testing

/// Calls `body` with the bytes, followed by the padding that every text must have.
func withPadding<T>(_ bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> T) -> T {
    let padded = Array(bytes) + Array(repeating: 0x22, count: MessageSplitter.paddingBytes)
    return padded.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<bytes.count])) }
}

/// A line of a splitter as a comparable value.
enum Piece: Equatable {
    case line(String)
    case tooLarge(prefix: String, lineBytes: Int)

    init(_ line: SplitLine) {
        switch line {
        case .line(let bytes): self = .line(String(decoding: bytes, as: UTF8.self))
        case .tooLarge(let prefix, let lineBytes):
            self = .tooLarge(prefix: String(decoding: prefix, as: UTF8.self), lineBytes: lineBytes)
        }
    }
}

/// Splits `stream`, passed in pieces of these sizes and then the rest, and ends the input if requested.
///
/// - Parameter laterLimit: The limit from the second piece on.
func split(
    _ stream: [UInt8], sizes: [Int] = [], limit: Int = 1000, laterLimit: Int? = nil, endsInput: Bool = false
) -> [Piece] {
    var splitter = MessageSplitter(maximumLineBytes: limit)
    var pieces: [Piece] = []
    let collect: (SplitLine) -> Bool = { line in
        pieces.append(Piece(line))
        return true
    }
    var rest = stream[...]
    for size in sizes where !rest.isEmpty {
        _ = withPadding(rest.prefix(size)) { splitter.consume($0, collect) }
        rest = rest.dropFirst(size)
        if let laterLimit { splitter.maximumLineBytes = laterLimit }
    }
    _ = withPadding(rest) { splitter.consume($0, collect) }
    if endsInput, let line = splitter.lastLine() { _ = collect(line) }
    return pieces
}

/// An item of a decoder as a comparable value.
enum Decoded: Equatable {
    case call(task: String, options: String, id: String?, timeout: Duration?, progress: Bool, session: UInt64?)
    case callback(id: String, result: String?, error: String?)
    case progress(id: String, value: String, sequence: UInt64)
    case cancel(id: String)
    case event(name: String, data: String)
    case problem(code: ErrorCode, id: String?)

    init(_ item: DecodedItem) {
        func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
        switch item {
        case .call(let message):
            let call = message.pointee
            self = .call(
                task: text(call.task), options: text(call.options), id: call.callbackID.map { text($0.text) },
                timeout: call.timeout, progress: call.wantsProgress, session: call.session)
        case .problem(let problem):
            self = .problem(code: problem.pointee.error.code, id: problem.pointee.callbackID.map { text($0.text) })
        case .message(let message): self.init(message.pointee)
        }
    }

    private init(_ message: BridgeMessage) {
        func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
        switch message {
        case .callback(let callback):
            self = .callback(
                id: text(callback.callbackID.text), result: callback.result.map(text), error: callback.error.map(text))
        case .progress(let progress):
            self = .progress(
                id: text(progress.callbackID.text), value: text(progress.value), sequence: progress.sequence)
        case .cancel(let id): self = .cancel(id: text(id.text))
        case .event(let event): self = .event(name: text(event.name), data: text(event.data))
        case .listening: preconditionFailure("the native dialect has no listeners")
        }
    }
}

/// Returns everything that a line decodes to.
func decode(_ line: String) -> [Decoded] { decode(Array(line.utf8)) }

/// Returns everything that a line decodes to.
func decode(_ line: [UInt8]) -> [Decoded] {
    let decoder = MessageDecoder()
    var items: [Decoded] = []
    withPadding(line) { bytes in
        _ = decoder.decode(.line(bytes)) {
            items.append(Decoded($0))
            return true
        }
    }
    return items
}

/// Returns everything that a line decodes to in steps, and whether it is a batch of JSON-RPC; `nil` if it is no batch.
func decodeInSteps(_ line: String) -> (items: [Decoded], isRPC: Bool??) { decodeInSteps(Array(line.utf8)) }

/// Returns everything that a line decodes to in steps, and whether it is a batch of JSON-RPC; `nil` if it is no batch.
func decodeInSteps(_ line: [UInt8]) -> (items: [Decoded], isRPC: Bool??) {
    let decoder = MessageDecoder()
    var splitter = MessageSplitter(maximumLineBytes: 1 << 24)
    let open = withPadding(line) { decoder.open($0, of: &splitter) }
    var items: [Decoded] = []
    var isRPC: Bool??
    while true {
        switch decoder.advance(open) {
        case .step: break
        case .batch: isRPC = .some(open.isRPCBatch)
        case .item(let item): items.append(Decoded(item))
        case .finished:
            #expect(open.isFinished && open.rest.isEmpty)
            return (items, isRPC)
        }
    }
}

/// Returns a plain call for comparison.
func call(
    _ task: String, _ options: String = "{}", id: String? = nil, timeout: Duration? = nil, progress: Bool = false,
    session: UInt64? = nil
) -> Decoded {
    .call(task: task, options: options, id: id, timeout: timeout, progress: progress, session: session)
}

/// Traffic as clients send it, valid and invalid, one message a line.
let recordedTraffic: [String] = [
    #"{"task":"Alert","options":{"content":"Delete \"all\" files? 你好 🎉","btn":"OK"},"callbackId":"cb_1_171"}"#,
    #"{"callbackId":42,"task":"persistence.create","options":{"table":"notes","record":{"n":12345678901234567890123}}}"#,
    #"{"task":"log","options":[1,2.5e-3,null,true,{"deep":[[[[{}]]]]}]}"#,
    #"{"cancel":"cb_1_171"}"#,
    #"[{"task":"Echo","callbackId":"a"},{"task":"Echo","callbackId":"b","timeout":250},7]"#,
    #"{"callbackId":"x","result":{"ok":true}}"#,
    #"{"callbackId":"x","progress":0.5,"sequence":3}"#,
    #"{"event":"session.opened","data":{"session":3}}"#,
    #"{"handlerName":"Alert","data":{"content":"é"},"callbackId":"cb_1"}"#,
    #"{"responseId":"17","responseData":{"error":{"code":"a","message":"b"}}}"#,
    #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"a"}}"#,
    #"[{"jsonrpc":"2.0","method":"Alert","params":[1,{"a":"b"}],"id":null},{"jsonrpc":"2.0","result":7,"id":1}]"#,
    #"{"jsonrpc":"2.0","error":{"code":-32000,"message":"m","data":{"code":"x"}},"id":1}"#,
    #"{"url":"jxaction://scan/it?method=aaa&x=%E5%BC%B9+#top","callbackId":"c1"}"#,
    #"{"funName":"getMobileCode","value":"v","callbackId":"c1","timeout":5,"session":1}"#,
    #"{"callbackId":"7","pluginId":"camera","methodName":"scan","options":{"a":1},"progress":true}"#,
    #"{"callbackId":"7","pluginId":"camera","methodName":"scan","save":true,"success":true,"data":1}"#,
    #"{"task":"broken","callbackId":"b1","options":{"a":}}"#,
    #"not json at all"#,
]
