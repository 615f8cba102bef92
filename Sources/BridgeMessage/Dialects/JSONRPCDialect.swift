import BridgeJSON
import Glibc

/// JSON-RPC 2.0, all of it, and two notifications as the Language Server Protocol has them: `$/cancelRequest` `{id}`
/// and `$/progress` `{id, progress, sequence}`. Arrays are answered by arrays; that is the runtime's affair
/// (`RPCBatch`).
///
/// Source: https://www.jsonrpc.org/specification
final class JSONRPCDialect: Dialect {
    override class var name: String { "JSON-RPC" }
    override var sharedFields: [EnvelopeField] { [.result, .error] }
    override var idField: FieldID { id }
    private let id: FieldID
    private let version, method, params: FieldID

    required init(_ names: inout FieldNames) {
        version = names.mark("jsonrpc")
        method = names.hint("method")
        params = names.hint("params")
        id = names.field("id")
        super.init(&names)
    }

    override func read(_ fields: DialectFields) throws(DialectMismatch) -> DialectMessage {
        guard let text = fields.value(version), text.count == 5, let start = text.baseAddress,
            memcmp(start, #""2.0""#, 5) == 0
        else {
            throw DialectMismatch(version, #""2.0""#)
        }
        guard fields.has(method) else { return .other(try response(fields)) }
        guard !fields.has(.result), !fields.has(.error) else {
            throw DialectMismatch("the field method goes neither with result nor with error")
        }
        let name = try fields.string(method)
        let options = fields.value(params) ?? DialectText.emptyObject
        let isPositional = options.first == UInt8(ascii: "[")
        guard isPositional || options.first == UInt8(ascii: "{") else {
            throw DialectMismatch(params, "an object or an array")
        }
        if !fields.has(idField), let message = try notification(name, options, fields) { return .other(message) }
        return try fields.call(name, options, id: try fields.rpcID(idField), isPositional: isPositional)
    }

    /// A notification that is no call; nil: it is one.
    private func notification(
        _ name: UnsafeRawBufferPointer, _ params: UnsafeRawBufferPointer, _ fields: DialectFields
    ) throws(DialectMismatch) -> BridgeMessage? {
        guard name.first == UInt8(ascii: "$") else { return nil }
        if name.elementsEqual("$/cancelRequest".utf8) {
            guard let id = fields.member("id", of: params).flatMap(fields.rpcID) else {
                throw DialectMismatch(self.params, "an object with the id of a call")
            }
            return .cancel(id)
        }
        guard name.elementsEqual("$/progress".utf8) else { return nil }
        guard let json = try? JSON(parsing: params), let id = json["id"]?.bytes,
            id.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 })
        else { throw DialectMismatch(self.params, "an object with the id of a call as it was sent, an integer") }
        let text = fields.text(id)
        return .progress(
            ProgressMessage(
                callbackID: CallbackID(text: text, content: text, isString: false, dialect: .native),
                value: fields.text((json["progress"] ?? .null).bytes),
                sequence: UInt64(clamping: json["sequence"]?.int64Value ?? 0)))
    }

    // MARK: Responses of clients that provide tasks

    private func response(_ fields: DialectFields) throws(DialectMismatch) -> BridgeMessage {
        let result = fields.value(.result)
        let error = fields.value(.error)
        guard result != nil || error != nil else {
            throw DialectMismatch("a message has the field method, or id and one of result and error")
        }
        return .callback(
            CallbackMessage(
                callbackID: try fields.answeredID(idField), result: result,
                error: error.map { native($0, fields) }))
    }

    /// A JSON-RPC error as the native one. What is none is left as it is, and found to be none.
    private func native(_ error: UnsafeRawBufferPointer, _ fields: DialectFields) -> UnsafeRawBufferPointer {
        guard let json = try? JSON(parsing: error), let number = json["code"]?.int64Value,
            let message = json["message"]?.stringValue
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
        return fields.text(JSON.object(object).bytes)
    }

    // MARK: Writing

    override func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer) {
        output.append(
            #"{"jsonrpc":"2.0","id":"#, address.id ?? DialectText.null, #","result":"#, result, "}\n")
    }

    override func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer) {
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

    override func write(
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

    override func writeEvent(_ name: String, data: UnsafeRawBufferPointer, _ output: OutputBuffer) {
        output.append(#"{"jsonrpc":"2.0","method":"#)
        output.append(quoted: name)
        output.append(#","params":"#)
        // Parameters are an object or an array.
        let isStructured = data.first == UInt8(ascii: "{") || data.first == UInt8(ascii: "[")
        if !isStructured { output.append(#"{"data":"#) }
        output.append(data)
        if !isStructured { output.append("}") }
        output.append("}\n")
    }

    override func write(_ call: OutgoingCall, _ output: OutputBuffer) {
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

    override func writeCancel(_ id: UInt64, _ output: OutputBuffer) {
        output.append(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"#)
        output.append(decimal: id)
        output.append("}}\n")
    }
}

/// The numbers of errors in JSON-RPC. The specification has five; -32000 to -32099 are the server's own.
private enum RPCErrorNumber {
    static let notJSON: Int64 = -32700
    private static let other: Int64 = -32000

    private static let known: [(code: ErrorCode, number: Int64)] = [
        (.messageInvalid, -32600), (.taskNotFound, -32601), (.optionsInvalid, -32602), (.internal, -32603),
        (.messageTooLarge, -32001), (.callDuplicate, -32002), (.permissionDenied, -32003), ("login.required", -32004),
        (.callTimeout, -32005), (.callCancelled, -32006), (.busy, -32007), (.resultTooLarge, -32008),
        (.sessionClosed, -32009), (.sessionNotFound, -32010), (.shuttingDown, -32011), ("plugin.unavailable", -32012),
        ("plugin.crashed", -32013), ("plugin.no_reply", -32014), (.pluginInvalidReply, -32015),
        (.quotaExceeded, -32016),
    ]

    static func of(_ code: ErrorCode) -> Int64 { known.first { $0.code == code }?.number ?? other }

    static func code(of number: Int64) -> String {
        known.first { $0.number == number }?.code.rawValue ?? "jsonrpc.error"
    }
}
