import BridgeJSON

// Options are checked on the loop if that is quick, as for most of them. Longer checks are done completely in the lane;
// then the call begins once more. Further input of its session waits meanwhile.
extension CallEngine {
    /// Returns whether the call can begin now. `false` if it has been answered because its options are invalid or name
    /// something forbidden, or if it continues later.
    func fits(_ call: Call, _ options: UnsafeRawBufferPointer, _ check: OptionsCheck) -> Bool {
        if let schema = check.schema, !fits(call, options, schema) { return false }
        return check.rights.isEmpty || mayName(call, options, check.rights)
    }

    /// Returns whether the caller may use the names in its options. `false` if it may not and the call has been
    /// answered with an error.
    private func mayName(_ call: Call, _ options: UnsafeRawBufferPointer, _ names: [OptionRight]) -> Bool {
        do throws(BridgeError) {
            try rights.check(namesIn: options, of: call, names)
            return true
        } catch {
            end(call, error: error)
            return false
        }
    }

    /// Returns whether the options match the schema. `false` if the call has been answered because they do not match or
    /// are too long to be converted to values, or if the call continues later: the code that receives `false` must not
    /// use the call any more.
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

    /// Never inlined, so that code for few calls does not slow down all others.
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

    /// Reads a schema that is stored as text, in the lane if it is long, and begins the call once more.
    ///
    /// - Parameter take: Called with the result, before the call begins. Not called if the call had ended before the
    ///   reading began.
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

    /// Runs work on a call's options in the lane. Further input of its session waits until the work is back.
    ///
    /// - Parameter done: Called with the options and the result; not called if the call had ended before the work's
    ///   turn came.
    private func run<Value: Sendable>(
        in lane: any WorkLane, for call: Call, _ options: UnsafeRawBufferPointer,
        _ work: @escaping @Sendable ([UInt8]) -> Value,
        then done: @escaping (CallHandle, [UInt8], Value) -> Void
    ) {
        let handle = call.handle
        // The session's later input must not be handled before this call. For calls that others made on its behalf the
        // order is not kept.
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

    /// Returns the call for which the lane has finished, if it has not ended.
    private func callBack(_ handle: CallHandle) -> Call? {
        guard let call = self.call(handle), let task = successor(of: call) else { return nil }
        if let session = call.session { turns.note(.call, task.number, of: session) }
        return call
    }

    /// Begins a call again after work in the lane. Other calls have had turns meanwhile, so it begins like a new call,
    /// without the work that is done.
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
    /// Whether the options were just found to match this schema. The result is used only once: another schema may
    /// replace this one, and interceptors may change the options.
    fileprivate func takeFitting(_ schema: SchemaCheck) -> Bool {
        guard let extras = record.pointee.extras, let fitting = extras.fitting else { return false }
        extras.fitting = nil
        return fitting === schema
    }
}

extension SchemaCheck {
    /// Returns why a text does not match; `nil` if it matches. Any thread.
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
