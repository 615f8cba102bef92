import BridgeJSON
import BridgeMessage

// Calls in other dialects than the native one: what is different on their way in and out.
extension TaskRuntime {
    /// Hands a call to its provider, as ``dispatch(_:of:options:)`` does.
    func dispatchForeign(_ call: Call, of task: TaskEntry, _ message: UnsafePointer<CallMessage>) {
        if message.pointee.dialect == Dialects.jsonRPC, call.hasID,
            let batch = call.record.pointee.session?._withUnsafeGuaranteedRef({ $0.openBatch })
        {
            call.extras.batch = batch
            batch.waitingCalls += 1
        }
        if message.pointee.hasPositionalOptions {
            dispatchPositional(call, of: task, options: message.pointee.options)
        } else {
            dispatch(call, of: task, options: message.pointee.options)
        }
    }

    /// Hands a call to its provider once it is known what its options are called.
    private func dispatchPositional(_ call: Call, of task: TaskEntry, options: UnsafeRawBufferPointer) {
        let handle = call.handle
        let values = Array(options)
        noteBegin(of: call, task, options: options)
        task.provider.describe(task) { [unowned self] schemas in
            // It may have ended meanwhile, or another plugin taken the place of its own.
            guard let call = calls.call(handle), let task = call.task else { return }
            do throws(BridgeError) {
                let named = try PositionalOptions.named(values, for: task.name, schemas.options)
                named.withPadding { start(call, of: task, options: $0) }
            } catch {
                end(call, error: error)
            }
        }
        settle(call, handle, values.count)
    }

    /// Where a call's answer goes. The task is the one that the caller named.
    func address(of call: Call) -> CallbackAddress {
        CallbackAddress(
            call.record.pointee.dialect, id: call.record.pointee.id.text,
            task: (call.passage?.original ?? call.task)?.nameBytes ?? UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Writes the end of a call that came in another dialect.
    func writeForeign(_ call: Call, to session: Session, _ write: (CallbackAddress, OutputBuffer) -> Void) {
        let address = address(of: call)
        guard let batch = call.record.pointee.extras?.batch else {
            write(address, session.output)
            return markDirty(session)
        }
        batch.waitingCalls -= 1
        if batch.answeredBytes < limits.unreadBytes {
            batch.add { write(address, $0) }
        } else {
            let error = BridgeError(
                .resultTooLarge,
                "the results of the batch are longer than the \(limits.unreadBytes) bytes that may wait")
            batch.add { MessageEncoder.callback(to: address, error: error, $0) }
        }
        count(batch, of: session)
        finish(batch, of: session)
    }

    /// Writes an answer to a message that began no call.
    func write(to session: Session, _ dialect: DialectID, _ write: (OutputBuffer) -> Void) {
        if let batch = session.openBatch, dialect == Dialects.jsonRPC {
            batch.add(write)
            count(batch, of: session)
        } else {
            write(session.output)
        }
        markDirty(session)
    }

    // MARK: Batches of JSON-RPC

    /// Takes in the batch that a decoder has come upon, where it is one of JSON-RPC's: all of it at once, because it is
    /// answered by one array.
    ///
    /// - Returns: Whether it is. Where its first item tells nothing, it is if the session has spoken nothing else.
    public func receiveRPCBatch(_ decoder: MessageDecoder, from session: Session) -> Bool {
        guard decoder.isRPCBatch ?? (session.onlyDialect == Dialects.jsonRPC) else { return false }
        let batch = RPCBatch()
        session.openBatch = batch
        _ = decoder.decodeBatch { item in
            receive(item, from: session)
            return session.takesMessages
        }
        session.openBatch = nil
        batch.isComplete = true
        finish(batch, of: session)
        return true
    }

    private func finish(_ batch: RPCBatch, of session: Session) {
        guard batch.isComplete, batch.waitingCalls == 0, session.takesMessages else { return }
        forget(batch, of: session)
        batch.write(to: session.output)
        markDirty(session)
    }
}

/// The answers to a batch of JSON-RPC, until all of them are there.
final class RPCBatch {
    /// Calls whose answers are to come.
    var waitingCalls = 0
    /// Whether all items have been received.
    var isComplete = false
    /// How much of the answers has been counted.
    var countedBytes = 0
    private let answers = OutputBuffer()

    /// The length of the answers so far.
    var answeredBytes: Int { answers.count }

    /// Takes in an answer, which `write` writes as a line.
    func add(_ write: (OutputBuffer) -> Void) {
        let line = OutputBuffer()
        write(line)
        answers.append(UInt8(ascii: answers.isEmpty ? "[" : ","))
        answers.append(UnsafeRawBufferPointer(rebasing: line.bytes.dropLast()))
    }

    /// Writes the array; nothing, where nothing was to be answered.
    func write(to output: OutputBuffer) {
        guard !answers.isEmpty else { return }
        output.append(answers.bytes)
        output.append("]\n")
    }
}

/// Options without names.
enum PositionalOptions {
    /// The elements of an array as an object, by the order of the properties of the options' schema; as they are, where no
    /// schema names any.
    ///
    /// - Throws: `options.invalid`, where there are more elements than properties.
    static func named(_ options: [UInt8], for task: String, _ schema: JSON?) throws(BridgeError) -> [UInt8] {
        guard let properties = schema?["properties"]?.objectValue, !properties.isEmpty,
            let values = (try? JSON(parsing: options))?.arrayValue
        else { return options }
        let names = properties.map(\.key)
        guard values.count <= names.count else {
            throw BridgeError(
                JSONMismatch(
                    path: "$[\(names.count)]", expected: "the end: \(task) takes \(names.joined(separator: ", "))",
                    got: "\(values.count) parameters"))
        }
        var object = JSONObject()
        for (name, value) in zip(names, values) { object[name] = value }
        return JSON.object(object).bytes
    }
}
