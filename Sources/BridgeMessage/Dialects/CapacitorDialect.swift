import BridgeJSON

/// Capacitor's messages. `{"callbackId", "pluginId", "methodName", "options"}` calls the task `pluginId.methodName`.
/// The answer is `{"callbackId", "pluginId", "methodName", "save", "success", "data" or "error"}`. `save` is true if
/// more answers follow, as for progress. A task without a dot in its name is a method of the plugin `Trestle`.
///
/// `addListener` and `removeListener` add and remove an ``EventListener``. The message of a page's cordova plugin,
/// `{"type": "cordova", "service", "action", "actionArgs"}`, calls the task `service.action`. A page's uncaught error,
/// `{"type": "js.error", "error"}`, is a one-way call of the task `js.error`.
///
/// Source of the forms: `core/native-bridge.ts` of https://github.com/ionic-team/capacitor
struct CapacitorDialect: Dialect {
    /// The plugin of tasks whose names have no dot.
    private static let ownPlugin: StaticString = "Trestle"

    /// An answer to a call of a task that the client provides has this field.
    var sharedFields: [EnvelopeField] { [.error] }

    func recognition(of message: ForeignMessage) -> Recognition {
        if message.has(.pluginID) || message.has(.methodName) { return .certain }
        return isError(message) || isCordova(message) ? .certain : .none
    }

    private func isError(_ message: ForeignMessage) -> Bool { isType("\"js.error\"", message) }
    private func isCordova(_ message: ForeignMessage) -> Bool { isType("\"cordova\"", message) }

    private func isType(_ type: StaticString, _ message: ForeignMessage) -> Bool {
        message.value(.type)?.elementsEqual(UnsafeRawBufferPointer(type)) ?? false
    }

    /// In Capacitor, -1 means no callback.
    func id(of message: ForeignMessage) throws(DialectMismatch) -> CallbackID? {
        guard let id = try message.id(.callbackID), !id.content.elementsEqual("-1".utf8) else { return nil }
        return id
    }

    func read(_ message: ForeignMessage) throws(DialectMismatch) -> ForeignMeaning {
        if message.has(.success) { return .other(try answer(message)) }
        if isCordova(message) { return try cordovaCall(message) }
        if isError(message) {
            let task = message.reader.text("js.error".utf8)
            return try message.call(task, message.value(.error) ?? DialectText.null, id: nil)
        }
        let plugin = try message.string(.pluginID)
        let method = try message.string(.methodName)
        guard !message.has(.error), !message.has(.save) else {
            throw DialectMismatch(.success, "present in an answer")
        }
        if let change = try listening(plugin, method, message) { return .other(.listening(change)) }
        return try message.call(
            name(method, of: plugin, message.reader), message.value(.options) ?? DialectText.emptyObject,
            id: try id(of: message))
    }

    private func cordovaCall(_ message: ForeignMessage) throws(DialectMismatch) -> ForeignMeaning {
        let arguments = message.value(.actionArgs) ?? message.reader.text("[]".utf8)
        guard arguments.first == UInt8(ascii: "[") else { throw DialectMismatch(.actionArgs, "an array") }
        let task = name(try message.string(.action), of: try message.string(.service), message.reader)
        return try message.call(task, arguments, id: try id(of: message), isPositional: true)
    }

    /// Returns the name of a task or an event.
    private func name(
        _ method: UnsafeRawBufferPointer, of plugin: UnsafeRawBufferPointer, _ reader: ForeignReader
    ) -> UnsafeRawBufferPointer {
        if plugin.elementsEqual(UnsafeRawBufferPointer(Self.ownPlugin)) { return method }
        return reader.text(Array(plugin) + [UInt8(ascii: ".")] + method)
    }

    // MARK: Listeners

    /// Returns the change of listeners that a message requests; nil if it requests none.
    private func listening(
        _ plugin: UnsafeRawBufferPointer, _ method: UnsafeRawBufferPointer, _ message: ForeignMessage
    ) throws(DialectMismatch) -> ListeningMessage? {
        let reader = message.reader
        let options = message.value(.options) ?? DialectText.emptyObject
        let maximum = ForeignReader.maximumBytes
        let isShort = options.count <= maximum
        if method.elementsEqual("addListener".utf8) {
            guard let id = try id(of: message) else {
                throw DialectMismatch(.callbackID, "an id, with which events are sent")
            }
            guard isShort, let event = reader.member("eventName", of: options), let text = reader.string(event) else {
                throw DialectMismatch(.options, "an object with a string eventName, of at most \(maximum) bytes")
            }
            return .add(id, event: name(text, of: plugin, reader))
        }
        if method.elementsEqual("removeListener".utf8) {
            guard isShort, let member = reader.member("callbackId", of: options),
                let id = reader.id(member.text, isEscaped: member.isEscaped, .capacitor)
            else {
                let expected = "an object with the callbackId of a listener, of at most \(maximum) bytes"
                throw DialectMismatch(.options, expected)
            }
            // The message's own id is that of the listener's function; an answer would call that function.
            return .remove(id)
        }
        guard method.elementsEqual("removeAllListeners".utf8) else { return nil }
        return .removeAll(beginning: name(reader.text([]), of: plugin, reader), id: try id(of: message))
    }

    private func answer(_ message: ForeignMessage) throws(DialectMismatch) -> BridgeMessage {
        let id = try message.answeredID(.callbackID)
        let isGood = try message.boolean(.success) == true
        let data = message.value(.data) ?? DialectText.null
        if isGood, try message.boolean(.save) == true {
            return .progress(ProgressMessage(callbackID: id, value: data, sequence: 0))
        }
        let error = message.value(.error) ?? DialectText.null
        return .callback(CallbackMessage(callbackID: id, result: isGood ? data : nil, error: isGood ? nil : error))
    }

    // MARK: Writing

    func write(result: UnsafeRawBufferPointer, to address: CallbackAddress, _ output: OutputBuffer) {
        begin(address, output)
        output.append(#","save":false,"success":true,"data":"#)
        output.append(result)
        output.append("}\n")
    }

    func write(error: BridgeError, to address: CallbackAddress, _ output: OutputBuffer) {
        begin(address, output)
        output.append(#","save":false,"success":false,"error":"#)
        if let code = Self.codes[error.code] {
            var data: JSONObject = ["code": .string(error.code.rawValue)]
            data["data"] = error.data
            output.append(
                json: ["code": .string(code), "message": .string(error.message), "data": .object(data)] as JSON)
        } else {
            output.append(json: error)
        }
        output.append("}\n")
    }

    /// The codes that Capacitor's own code expects. The daemon's code is then in `data`.
    private static let codes: [ErrorCode: String] = [
        .taskNotFound: "UNIMPLEMENTED", .pluginUnavailable: "UNAVAILABLE",
    ]

    func write(
        progress: UnsafeRawBufferPointer, sequence: UInt64, to address: CallbackAddress, _ output: OutputBuffer
    ) {
        begin(address, output)
        output.append(#","save":true,"success":true,"data":"#)
        output.append(progress)
        output.append("}\n")
    }

    private func begin(_ address: CallbackAddress, _ output: OutputBuffer) {
        output.append(#"{"callbackId":"#)
        output.append(address.id ?? DialectText.null)
        if !address.task.isEmpty { write(task: address.task, output) }
    }

    func write(_ call: OutgoingCall, _ output: OutputBuffer) {
        output.append(#"{"callbackId":""#)
        if let id = call.id { output.append(decimal: id) } else { output.append("-1") }
        output.append("\"")
        let name = (try? JSON(parsing: call.quotedTask))?.stringValue ?? ""
        Array(name.utf8).withUnsafeBytes { write(task: $0, output) }
        output.append(extrasOf: call)
        output.append(#","options":"#)
        output.append(call.options)
        output.append("}\n")
    }

    /// Writes a task's name in two parts, split at its last dot.
    private func write(task: UnsafeRawBufferPointer, _ output: OutputBuffer) {
        let (plugin, method) = Self.parts(task)
        output.append(#","pluginId":"#)
        output.append(quoted: plugin)
        output.append(#","methodName":"#)
        output.append(quoted: method)
    }

    private static func parts(
        _ name: UnsafeRawBufferPointer
    ) -> (plugin: UnsafeRawBufferPointer, method: UnsafeRawBufferPointer) {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return (UnsafeRawBufferPointer(ownPlugin), name) }
        return (name.slice(0, dot), name.slice(dot + 1, name.count - dot - 1))
    }
}

/// Writes the lines of events for listeners: a beginning for each listener, and an end that all of them share.
public enum EventListener {
    /// Writes the beginning, up to the event's data.
    ///
    /// - Parameter id: The id in the listener's message, as JSON.
    public static func head(of id: UnsafeRawBufferPointer, event: String, to output: OutputBuffer) {
        var event = event
        event.withUTF8 { event in
            let (plugin, _) = CapacitorDialect.plugin(of: UnsafeRawBufferPointer(event))
            output.append(#"{"callbackId":"#)
            output.append(id)
            output.append(#","pluginId":"#)
            output.append(quoted: plugin)
            output.append(#","methodName":"addListener","save":true,"success":true,"data":"#)
        }
    }

    /// Writes the end: the data as JSON.
    public static func tail(_ data: UnsafeRawBufferPointer, to output: OutputBuffer) {
        MessageEncoder.onOneLine(data) { output.append($0) }
        output.append("}\n")
    }

    /// Returns the replacement for a task's name in an error about a listener.
    public static func task(event: String) -> [UInt8] {
        var event = event
        return event.withUTF8 { event in
            let (plugin, isOwn) = CapacitorDialect.plugin(of: UnsafeRawBufferPointer(event))
            return (isOwn ? [] : Array(plugin) + [UInt8(ascii: ".")]) + Array("addListener".utf8)
        }
    }
}

extension CapacitorDialect {
    /// Returns the plugin of an event, and whether it is the plugin of names without a dot.
    fileprivate static func plugin(of event: UnsafeRawBufferPointer) -> (UnsafeRawBufferPointer, isOwn: Bool) {
        (parts(event).plugin, !event.contains(UInt8(ascii: ".")))
    }
}
