import BridgeJSON

// Options are checked on the loop where that is quick, as it is with most of them. What takes longer is done whole in
// the lane, and the call begins once more when it is back; further input of its session waits meanwhile.
extension CallEngine {
    /// False where the call has been answered because its options do not fit or name what the caller may not name, and
    /// where it goes on later.
    func fits(_ call: Call, _ options: UnsafeRawBufferPointer, _ check: OptionsCheck) -> Bool {
        if let schema = check.schema, !fits(call, options, schema) { return false }
        return check.rights.isEmpty || mayName(call, options, check.rights)
    }

    /// False where the options name what the caller may not name, and the call has been answered so.
    private func mayName(_ call: Call, _ options: UnsafeRawBufferPointer, _ names: [OptionRight]) -> Bool {
        do throws(BridgeError) {
            try rights.check(namesIn: options, of: call, names)
            return true
        } catch {
            end(call, error: error)
            return false
        }
    }

    /// False where the call has been answered because its options do not fit, or are longer than what is made into
    /// values, and where it goes on later: the code that gets false forgets the call.
    func fits(_ call: Call, _ options: UnsafeRawBufferPointer, _ schema: SchemaCheck) -> Bool {
        guard options.count <= TaskDescription.usualOptionBytes else {
            refuseLength(of: call, options.count, TaskDescription.usualOptionBytes)
            return false
        }
        if call.takeFitting(schema) { return true }
        do throws(SchemaMisfit) {
            guard let lane else {
                try schema.check(options, in: schemaRoom)
                return true
            }
            if try schema.checkQuickly(options, in: schemaRoom) { return true }
            check(call, options, schema, in: lane)
        } catch {
            end(call, error: BridgeError(error))
        }
        return false
    }

    /// Never inlined: what only few calls need shall not stand in the way of the others.
    @inline(never)
    private func check(
        _ call: Call, _ options: UnsafeRawBufferPointer, _ schema: SchemaCheck, in lane: any WorkLane
    ) {
        run(in: lane, for: call, options) { text in
            schema.misfit(of: text)
        } then: { [self] handle, text, misfit in
            guard let call = callBack(handle) else { return }
            if let misfit { return end(call, error: BridgeError(misfit)) }
            call.extras.fitting = schema
            beginAnew(call, text)
        }
    }

    /// Reads a schema that has been kept as text, in the lane where it is long, and begins the call once more.
    ///
    /// - Parameter take: called with what has been read, before the call begins. Not called where the call has ended
    ///   meanwhile and the reading had not begun.
    @inline(never)
    func read(
        _ schema: [UInt8], for call: Call, _ options: UnsafeRawBufferPointer,
        _ take: @escaping (Result<OptionsSchema, JSONSchemaError>) -> Void
    ) {
        let read: @Sendable () -> Result<OptionsSchema, JSONSchemaError> = {
            Result { () throws(JSONSchemaError) in try OptionsSchema(reading: schema) }
        }
        guard let lane, !LaneWork.isNeedless(for: schema) else {
            take(read())
            if let task = call.task { task.provider.start(call, of: task, options: options) }
            return
        }
        run(in: lane, for: call, options) { _ in
            read()
        } then: { [self] handle, text, found in
            take(found)
            if let call = callBack(handle) { beginAnew(call, text) }
        }
    }

    /// Does work on a call's options in the lane. Further input of its session waits until it is back.
    ///
    /// - Parameter done: called with the options and what has been found; not called where the call had ended before
    ///   the work's turn came.
    private func run<Value: Sendable>(
        in lane: any WorkLane, for call: Call, _ options: UnsafeRawBufferPointer,
        _ work: @escaping @Sendable ([UInt8]) -> Value,
        then done: @escaping (CallHandle, [UInt8], Value) -> Void
    ) {
        let handle = call.handle
        // Its later input must not come before this call. Of calls that others made for it the order is not kept.
        let waiting = call.origin == .session ? call.session : nil
        let text = Array(options)
        do throws(BridgeError) {
            try run(in: lane, for: call, holding: text.count) {
                work(text)
            } then: { [self] (found: Value?) in
                if let found { done(handle, text, found) }
                steps.endWaiting(of: waiting)
            }
            steps.beginWaiting(of: waiting)
        } catch {
            end(call, error: error)
        }
    }

    /// The call that is back from the lane, if it has not ended.
    private func callBack(_ handle: CallHandle) -> Call? {
        guard let call = self.call(handle), let task = successor(of: call) else { return nil }
        if let session = call.session { turns.note(.call, task.number, of: session) }
        return call
    }

    /// A call is back from the lane. Others have had turns meanwhile: it begins as if it came now, but for what it
    /// waited for.
    private func beginAnew(_ call: Call, _ options: [UInt8]) {
        guard let task = call.task else { return }
        options.withPadding {
            if call.interception == nil {
                start(call, of: task, options: $0)
            } else {
                intercept(call, of: task, options: $0)
            }
        }
    }
}

extension Call {
    /// Whether the options have just been found to fit this schema. Only the next who asks gets that: another schema
    /// may have come in its place, and interceptors may change the options.
    fileprivate func takeFitting(_ schema: SchemaCheck) -> Bool {
        guard let extras = record.pointee.extras, let fitting = extras.fitting else { return false }
        extras.fitting = nil
        return fitting === schema
    }
}

extension SchemaCheck {
    /// Why a text does not fit; nil: it fits. Any thread.
    fileprivate func misfit(of text: [UInt8]) -> SchemaMisfit? {
        text.withUnsafeBytes { bytes in
            do throws(SchemaMisfit) {
                try check(bytes)
                return nil
            } catch {
                return error
            }
        }
    }
}
