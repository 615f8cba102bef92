import BridgeJSON
@testable import BridgeMessage

// Splitter, decoder and encoder. The input: a byte for the longest line, three for the sizes of the pieces of the rest,
// and the rest: the bytes from a client.
//
// - Whatever the pieces, the lines are those that a search for line ends finds.
// - An accepted message is JSON to another parser as well, and a message refused as invalid JSON is invalid.
// - A batch has as many items as its array, also if it is handled in two parts, or in steps.
// - All data to which a message points is readable, and is JSON.
// - An answer is one line of JSON that contains the id of the call.
func fuzzMessages(_ bytes: [UInt8]) throws(Violation) {
    var input = FuzzInput(bytes)
    let limit = [1 << 20, 64, 300, 5000][Int(input.byte() & 3)]
    let sizes = (0..<3).map { _ in Int(input.byte()) }
    let stream = input.all()
    let pieces = split(stream, sizes: sizes, limit: limit)
    try require(pieces == linesFound(in: stream, limit: limit), "in pieces of \(sizes): \(pieces)")
    let decoders = [
        MessageDecoder(urlSchemes: ["jxaction"]), MessageDecoder(urlSchemes: ["jxaction"], extraDepth: 1),
    ]
    for case .line(let line) in pieces {
        let first = try checkDecoding(line, decoders[0])
        let second = try checkDecoding(line, decoders[1])
        try require(first == second || decoders[1].isDeep, "two decoders differ about \(line.shown)")
    }
}

// MARK: Lines

/// A copy of a line.
private enum Piece: Equatable {
    case line([UInt8])
    /// Its length is exact: the CR of a line end counts if it arrived before the splitter could recognise the line end.
    case tooLarge

    init(_ line: SplitLine) {
        switch line {
        case .line(let bytes): self = .line(Array(bytes))
        case .tooLarge: self = .tooLarge
        }
    }
}

private func split(_ stream: [UInt8], sizes: [Int], limit: Int) -> [Piece] {
    var splitter = MessageSplitter(maximumLineBytes: limit)
    var pieces: [Piece] = []
    var rest = stream[...]
    var turn = 0
    while !rest.isEmpty {
        let size = sizes[turn % sizes.count]
        let piece = size == 0 ? rest : rest.prefix(size)
        turn += 1
        rest = rest.dropFirst(piece.count)
        _ = withPadding(piece) { bytes in
            splitter.consume(bytes) {
                pieces.append(Piece($0))
                return true
            }
        }
    }
    if let line = splitter.lastLine() { pieces.append(Piece(line)) }
    return pieces
}

/// Finds the lines as the protocol defines them, in the simplest way.
private func linesFound(in stream: [UInt8], limit: Int) -> [Piece] {
    stream.split(separator: 0x0A, omittingEmptySubsequences: true)
        .map { $0.last == 0x0D ? $0.dropLast() : $0 }
        .filter { !$0.isEmpty }
        .map { $0.count > limit ? .tooLarge : .line(Array($0)) }
}

// MARK: Messages

/// Decodes a line and reads all of it.
///
/// - Returns: the items, as texts.
private func checkDecoding(_ line: [UInt8], _ decoder: MessageDecoder) throws(Violation) -> [String] {
    let result = withPadding(line) { bytes in
        Result { () throws(Violation) in try readItems(bytes, decoder) }
    }
    let items = try result.get()
    let json = try? JSON(parsing: line)
    for item in items where item.hasPrefix("not JSON") {
        // Both parsers limit the depth, with different limits.
        try require(json == nil || item.contains("nest"), "refused as no JSON: \(line.shown) \(item)")
    }
    try require(json != nil || items.allSatisfy { !$0.hasPrefix("message") }, "no JSON, and passed: \(line.shown)")
    if let array = json?.arrayValue, items.first?.hasPrefix("not JSON") != true {
        try require(items.count == max(array.count, 1), "\(items.count) items of \(line.shown)")
    } else {
        try require(items.count == 1, "\(items.count) items of \(line.shown)")
    }
    return items
}

private func readItems(
    _ line: UnsafeRawBufferPointer, _ decoder: MessageDecoder
) throws(Violation) -> [String] {
    var whole: [String] = []
    var violation: Violation?
    func take(_ item: DecodedItem, _ items: inout [String]) {
        do throws(Violation) { items.append(try read(item)) } catch { violation = violation ?? error }
    }
    _ = decoder.decode(.line(line)) {
        take($0, &whole)
        return true
    }
    // Like a connection that continues after it had to stop after the first item.
    var parts: [String] = []
    let outcome = decoder.decode(.line(line)) {
        take($0, &parts)
        return false
    }
    if case .stopped(let offset) = outcome {
        withPadding([UInt8(ascii: "[")] + line[offset...]) { rest in
            _ = decoder.decode(.line(rest)) {
                take($0, &parts)
                return true
            }
        }
    }
    // Like a line that takes several turns.
    var steps: [String] = []
    var splitter = MessageSplitter(maximumLineBytes: 1 << 20)
    let open = decoder.open(line, of: &splitter)
    while !open.isFinished {
        if case .item(let item) = decoder.advance(open) { take(item, &steps) }
    }
    if let violation { throw violation }
    try require(steps == whole, "in steps: \(steps); at once: \(whole)")
    try require(parts == whole, "in two parts: \(parts); as one: \(whole)")
    return whole
}

/// Reads all data to which an item points, and answers it.
private func read(_ item: DecodedItem) throws(Violation) -> String {
    switch item {
    case .call(let call): return "message \(try read(call.pointee))"
    case .message(let message): return "message \(try read(message.pointee))"
    case .problem(let problem):
        try readID(problem.pointee.callbackID)
        var address = CallbackAddress(
            problem.pointee.dialect ?? .native, id: problem.pointee.callbackID?.text,
            task: UnsafeRawBufferPointer(start: nil, count: 0))
        address.isNotJSON = problem.pointee.isNotJSON
        try checkLine { MessageEncoder.callback(to: address, error: problem.pointee.error, $0) }
        let error = problem.pointee.error
        try require([.messageInvalid, .messageTooLarge].contains(error.code), "a problem of code \(error.code)")
        let kind = problem.pointee.isNotJSON ? "not JSON" : "problem"
        return "\(kind) \(error.message) \(problem.pointee.callbackID.map { text($0.text) } ?? "-")"
    }
}

private func read(_ call: CallMessage) throws(Violation) -> String {
    try require(!call.task.isEmpty && String(validating: call.task, as: UTF8.self) != nil, "a task without a name")
    try checkJSON(call.options)
    if !call.caller.isEmpty { try checkJSON(call.caller) }
    try readID(call.callbackID)
    let address = CallbackAddress(call.dialect, id: call.callbackID?.text, task: call.task)
    let error = BridgeError(.callTimeout, "late \u{1}\n\"", data: ["a": 1], isTransient: true, retryAfter: .seconds(1))
    if let id = call.callbackID?.text {
        for line in [
            try checkLine({ MessageEncoder.callback(to: address, result: call.options, $0) }),
            try checkLine({ MessageEncoder.callback(to: address, error: error, $0) }),
            try checkLine({ MessageEncoder.progress(to: address, value: call.options, sequence: 7, $0) }),
        ] {
            // The id is at the front in all dialects; an id with a function's name is compared without its last brace.
            let written = id.first == UInt8(ascii: "{") ? Array(id.dropLast()) : Array(id)
            try require(
                Array(line.prefix(id.count + 128)).contains(written),
                "an answer without its id \(text(id)): \(line.shown)")
        }
    }
    try checkLine { MessageEncoder.event(in: call.dialect, name: text(call.task), data: call.options, to: $0) }
    let quoted = JSON.string(text(call.task)).bytes
    try checkLine { output in
        quoted.withUnsafeBytes { quoted in
            var forwarded = OutgoingCall(quotedTask: quoted, options: call.options)
            forwarded.id = 12
            MessageEncoder.call(forwarded, in: call.dialect, to: output)
        }
    }
    return """
        call \(call.dialect.name) \(text(call.task)) \(text(call.options)) \(call.timeoutMilliseconds) \
        \(call.wantsProgress) \(call.session.map(String.init) ?? "-") \(call.hasPositionalOptions) \
        \(call.callbackID.map { text($0.text) } ?? "-")
        """
}

private func read(_ message: BridgeMessage) throws(Violation) -> String {
    switch message {
    case .callback(let callback):
        try readID(callback.callbackID)
        if let result = callback.result { try checkJSON(result) }
        if let error = callback.error {
            try checkJSON(error)
            _ = (try? JSON(parsing: error)).flatMap { BridgeError(json: $0) }
        }
        let outcome = "\(callback.result.map(text) ?? "-") \(callback.error.map(text) ?? "-")"
        return "callback \(text(callback.callbackID.text)) \(outcome)"
    case .progress(let progress):
        try readID(progress.callbackID)
        try checkJSON(progress.value)
        return "progress \(text(progress.callbackID.text)) \(text(progress.value)) \(progress.sequence)"
    case .cancel(let id):
        try readID(id)
        return "cancel \(text(id.text))"
    case .event(let event):
        try checkJSON(event.data)
        return "event \(text(event.name)) \(text(event.data))"
    case .listening(.add(let id, let event)):
        try readID(id)
        return "listener \(text(id.text)) \(text(event))"
    case .listening(.remove(let id)):
        try readID(id)
        return "no listener \(text(id.text))"
    case .listening(.removeAll(let beginning, let id)):
        try readID(id)
        return "no listeners \(text(beginning)) \(id.map { text($0.text) } ?? "-")"
    }
}

private func readID(_ id: CallbackID?) throws(Violation) {
    guard let id else { return }
    try checkJSON(id.text)
    _ = id.number
    let json = try? JSON(parsing: id.text)
    // An id with the name of a page's function has members; its content is the id in them, or one that the daemon
    // created.
    if json?.objectValue != nil { return }
    if id.isString {
        try require(
            json?.stringValue.map { $0.utf8.elementsEqual(id.content) } == true, "the content of \(text(id.text))")
    }
}

// MARK: JSON

private func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

private func checkJSON(_ bytes: UnsafeRawBufferPointer) throws(Violation) {
    try require((try? JSON(parsing: bytes)) != nil, "no JSON: \(text(bytes))")
}

/// Checks that the output is one line, and JSON.
@discardableResult
private func checkLine(_ write: (OutputBuffer) -> Void) throws(Violation) -> [UInt8] {
    let output = OutputBuffer()
    write(output)
    let line = Array(output.bytes)
    try require(line.last == 0x0A && !line.dropLast().contains(0x0A), "no line: \(line.shown)")
    try require((try? JSON(parsing: Array(line.dropLast()))) != nil, "no JSON is written: \(line.shown)")
    return line
}

extension [UInt8] {
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        part.isEmpty || indices.contains { self[$0...].starts(with: part) }
    }
}
