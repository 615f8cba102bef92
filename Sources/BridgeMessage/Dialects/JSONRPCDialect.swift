import BridgeJSON

/// JSON-RPC 2.0, complete, and two notifications as in the Language Server Protocol: `$/cancelRequest` `{id}` and
/// `$/progress` `{id, progress, sequence}`. The runtime (`RPCBatch`) answers arrays with arrays.
///
/// Source: https://www.jsonrpc.org/specification
struct JSONRPCDialect: Dialect {
    var sharedFields: [EnvelopeField] { [.result, .error] }

    func recognition(of message: ForeignMessage) -> Recognition {
        if message.has(.jsonrpc) { return .certain }
        return message.has(.method) || message.has(.params) ? .possible : .none
    }

    func id(of message: ForeignMessage) throws(DialectMismatch) -> CallbackID? { try message.rpcID(.id) }

    func read(_ message: ForeignMessage) throws(DialectMismatch) -> ForeignMeaning {
        guard let version = message.value(.jsonrpc), version.elementsEqual(#""2.0""#.utf8) else {
            throw DialectMismatch(.jsonrpc, #""2.0""#)
        }
        guard message.has(.method) else { return .other(try response(message)) }
        guard !message.has(.result), !message.has(.error) else {
            throw DialectMismatch("the field method cannot be combined with result or error")
        }
        let name = try message.string(.method)
        let options = message.value(.params) ?? DialectText.emptyObject
        let isPositional = options.first == UInt8(ascii: "[")
        guard isPositional || options.first == UInt8(ascii: "{") else {
            throw DialectMismatch(.params, "an object or an array")
        }
        if !message.has(.id), let notification = try notification(name, options, message.reader) {
            return .other(notification)
        }
        return try message.call(name, options, id: try id(of: message), isPositional: isPositional)
    }

    /// Reads a notification that is not a call; nil if it is a call.
    private func notification(
        _ name: UnsafeRawBufferPointer, _ params: UnsafeRawBufferPointer, _ reader: ForeignReader
    ) throws(DialectMismatch) -> BridgeMessage? {
        guard name.first == UInt8(ascii: "$") else { return nil }
        if name.elementsEqual("$/cancelRequest".utf8) {
            let maximum = ForeignReader.maximumBytes
            guard params.count <= maximum, let member = reader.member("id", of: params),
                let id = reader.rpcID(member.text, isEscaped: member.isEscaped)
            else {
                throw DialectMismatch(.params, "an object with the id of a call, of at most \(maximum) bytes")
            }
            return .cancel(id)
        }
        guard name.elementsEqual("$/progress".utf8) else { return nil }
        let values = reader.values(["id", "progress", "sequence"], of: params)
        guard let id = values?[0], id.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
            let maximum = ForeignReader.maximumMembers
            throw DialectMismatch(
                .params, "an object of at most \(maximum) members, with the id of a call as it was sent, an integer")
        }
        return .progress(
            ProgressMessage(
                callbackID: CallbackID(text: id, content: id, isString: false, dialect: .native),
                value: values?[1] ?? DialectText.null, sequence: values?[2].map(Self.sequence) ?? 0))
    }

    private static func sequence(_ text: UnsafeRawBufferPointer) -> UInt64 {
        guard text.count <= 20, let number = try? JSON(parsing: text) else { return 0 }
        return UInt64(clamping: number.int64Value ?? 0)
    }

    // MARK: Responses of clients that provide tasks

    private func response(_ message: ForeignMessage) throws(DialectMismatch) -> BridgeMessage {
        let result = message.value(.result)
        let error = message.value(.error)
        guard result != nil || error != nil else {
            throw DialectMismatch("a message has the field method, or id and one of result and error")
        }
        return .callback(
            CallbackMessage(
                callbackID: try message.answeredID(.id), result: result,
                error: error.map { native($0, message.reader) }))
    }

    /// Converts a JSON-RPC error to a native one. Other values, and values that are too long to be read on the loop,
    /// are returned unchanged and refused later.
    private func native(_ error: UnsafeRawBufferPointer, _ reader: ForeignReader) -> UnsafeRawBufferPointer {
        guard error.count <= ForeignReader.maximumBytes, let json = try? JSON(parsing: error),
            let number = json["code"]?.int64Value, let message = json["message"]?.stringValue
        else { return error }
        var object: JSONObject = ["message": .string(message)]
        let data = json["data"]
        if let code = data?["code"]?.stringValue {
            object["code"] = .string(code)
            for member in ["data", "transient", "retryAfter"] { object[member] = data?[member] }
        } else {
            object["code"] = .string(RPCErrorNumber.code(of: number))
            object["data"] = data
        }
        return reader.text(JSON.object(object).bytes)
    }

    // MARK: Writing

    func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer) {
        output.append(
            #"{"jsonrpc":"2.0","id":"#, address.id ?? DialectText.null, #","result":"#, result, "}\n")
    }

    func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer) {
        output.append(#"{"jsonrpc":"2.0","id":"#)
        output.append(address.id ?? DialectText.null)
        output.append(#","error":"#)
        var data: JSONObject = ["code": .string(error.code.rawValue)]
        let native = error.json
        for member in ["data", "transient", "retryAfter"] { data[member] = native[member] }
        let number = address.isNotJSON ? RPCErrorNumber.notJSON : RPCErrorNumber.of(error.code)
        let object: JSON = [
            "code": .number(JSONNumber(number)), "message": .string(error.message), "data": .object(data),
        ]
        output.append(json: object)
        output.append("}\n")
    }

    func write(
        progress: UnsafeRawBufferPointer, sequence: UInt64, to address: CallbackAddress, _ output: OutputBuffer
    ) {
        output.append(#"{"jsonrpc":"2.0","method":"$/progress","params":{"id":"#)
        output.append(address.id ?? DialectText.null)
        output.append(#","progress":"#)
        output.append(progress)
        output.append(#","sequence":"#)
        output.append(decimal: sequence)
        output.append("}}\n")
    }

    func writeEvent(_ name: String, data: UnsafeRawBufferPointer, _ output: OutputBuffer) {
        output.append(#"{"jsonrpc":"2.0","method":"#)
        output.append(quoted: name)
        output.append(#","params":"#)
        // Parameters must be an object or an array.
        let isStructured = data.first == UInt8(ascii: "{") || data.first == UInt8(ascii: "[")
        if !isStructured { output.append(#"{"data":"#) }
        output.append(data)
        if !isStructured { output.append("}") }
        output.append("}\n")
    }

    func write(_ call: OutgoingCall, _ output: OutputBuffer) {
        output.append(#"{"jsonrpc":"2.0","method":"#)
        output.append(call.quotedTask)
        if let id = call.id {
            output.append(#","id":"#)
            output.append(decimal: id)
        }
        output.append(extrasOf: call)
        output.append(#","params":"#)
        let isStructured = call.options.first == UInt8(ascii: "{") || call.options.first == UInt8(ascii: "[")
        if !isStructured { output.append("[") }
        output.append(call.options)
        if !isStructured { output.append("]") }
        output.append("}\n")
    }

    func writeCancel(_ id: UInt64, _ output: OutputBuffer) {
        output.append(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"#)
        output.append(decimal: id)
        output.append("}}\n")
    }
}

/// The numbers of errors in JSON-RPC. The specification has five; -32000 to -32099 are reserved for the server.
private enum RPCErrorNumber {
    static let notJSON: Int64 = -32700
    private static let other: Int64 = -32000

    private static let known: [(code: ErrorCode, number: Int64)] = [
        (.messageInvalid, -32600), (.taskNotFound, -32601), (.optionsInvalid, -32602), (.internal, -32603),
        (.messageTooLarge, -32001), (.callDuplicate, -32002), (.permissionDenied, -32003), (.providerClosed, -32004),
        (.callTimeout, -32005), (.callCancelled, -32006), (.busy, -32007), (.resultTooLarge, -32008),
        (.sessionClosed, -32009), (.sessionNotFound, -32010), (.daemonStopping, -32011), ("plugin.unavailable", -32012),
        ("plugin.crashed", -32013), ("reply.missing", -32014), (.replyInvalid, -32015),
        (.quotaExceeded, -32016),
    ]

    static func of(_ code: ErrorCode) -> Int64 { known.first { $0.code == code }?.number ?? other }

    static func code(of number: Int64) -> String {
        known.first { $0.number == number }?.code.rawValue ?? "jsonrpc.error"
    }
}
