internal import CTaskPlugin

/// Sends calls of tasks and events, on behalf of a call or in the plugin's own name. Any thread.
struct Sender: Sendable {
    unowned(unsafe) let runtime: PluginRuntime  // never released; see `Plugin.export`
    /// The call on whose behalf it sends; 0 for the plugin's own name.
    let parent: trestle_call

    var log: PluginLog { PluginLog(host: runtime.host, call: parent) }

    // MARK: Calls

    func call<R: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID? = nil, timeout: Timeout = .standard
    ) async throws(BridgeError) -> R {
        try await call(task, encoded: encode(options, of: task), session: session, timeout: timeout, onProgress: nil)
    }

    func call<R: Decodable & Sendable, P: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable, session: SessionID?, timeout: Timeout,
        onProgress: @escaping @Sendable (P) -> Void
    ) async throws(BridgeError) -> R {
        try await call(task, encoded: encode(options, of: task), session: session, timeout: timeout) { bytes in
            let maximum = Self.maximumBytesDecodedOnLoop
            guard bytes.count <= maximum else {
                return log.warning(
                    "progress of \(task) was skipped: it has \(bytes.count) bytes, at most \(maximum) are decoded")
            }
            do throws(JSONMismatch) {
                onProgress(try JSONCoding.decode(P.self, from: bytes))
            } catch {
                // Does not log the value itself: it may be secret.
                log.warning(
                    "progress of \(task) was skipped: it is not a \(P.self): at \(error.path) \(error.expected) was "
                        + "expected"
                )
            }
        }
    }

    /// Calls a task with options that are JSON already.
    func call<R: Decodable & Sendable>(
        _ task: String, encoded: [UInt8], session: SessionID?, timeout: Timeout = .standard,
        onProgress: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    ) async throws(BridgeError) -> R {
        let route = BridgeRoute(parent: parent, session: session, timeout: timeout)
        let call = TaskCall(task, encoded, route)
        let bytes = try await call.result(runtime.host, onProgress: onProgress).get()
        let decode: @Sendable () -> Result<R, JSONMismatch> = {
            bytes.span.bytes.withUnsafeBytes { bytes in
                Result { () throws(JSONMismatch) in try self.decode(R.self, from: bytes) }
            }
        }
        do throws(JSONMismatch) {
            // The sender of the answer determined the length, and the loop also serves others.
            guard bytes.count > Self.maximumBytesDecodedOnLoop else { return try decode().get() }
            return try await runtime.beside(decode).get()
        } catch {
            throw BridgeError(
                .resultInvalid,
                "the result of \(task) is not what its caller, the plugin \(runtime.parts.name), expects: \(error)")
        }
    }

    /// Makes a call without waiting for its end.
    func notify(_ task: String, _ options: some Encodable, session: SessionID? = nil) {
        let route = BridgeRoute(parent: parent, session: session, timeout: .standard)
        do throws(JSONEncodingError) {
            let options = try JSONCoding.encode(options)
            runtime.host.onLoopThread { [host = runtime.host] in TaskCall(task, options, route).notify(host) }
        } catch {
            log.warning("the call of \(task) was not made, its options cannot be written as JSON: \(error)")
        }
    }

    private func encode(_ options: some Encodable, of task: String) throws(BridgeError) -> [UInt8] {
        do throws(JSONEncodingError) {
            return try JSONCoding.encode(options)
        } catch {
            throw BridgeError(.internal, "the options for \(task) cannot be written as JSON: \(error)")
        }
    }

    /// Decodes a result, and takes its streams for the call that the plugin works on.
    private func decode<R: Decodable>(
        _ type: R.Type, from bytes: UnsafeRawBufferPointer
    ) throws(JSONMismatch) -> R {
        if R.self == JSON.self { return try JSONCoding.decode(type, from: bytes) }
        let streams = DecodedStreams()
        streams.attach(runtime)
        streams.call = parent
        return try JSONCoding.decode(type, from: bytes, userInfo: [.streamReaders: streams])
    }

    /// The maximum length that is decoded on the loop thread. A longer result is decoded on another thread; longer
    /// progress is not decoded at all.
    private static var maximumBytesDecodedOnLoop: Int { 64 << 10 }

    // MARK: Events

    func publish(_ event: String, _ data: some Encodable, retain: Bool) {
        publish(event, data, to: nil, flags: retain ? TRESTLE_EVENT_RETAIN : 0)
    }

    func publish(_ event: String, _ data: some Encodable, to sessions: [SessionID], direct: Bool) {
        publish(event, data, to: sessions, flags: direct ? TRESTLE_EVENT_DIRECT : 0)
    }

    func forget(_ event: String) { runtime.host.publish(event, [], flags: TRESTLE_EVENT_FORGET) }

    private func publish(_ event: String, _ data: some Encodable, to sessions: [SessionID]?, flags: UInt32) {
        do throws(JSONEncodingError) {
            let bytes = try JSONCoding.encode(data)
            runtime.host.publish(event, bytes, to: sessions, flags: flags)
        } catch {
            log.warning("the event \(event) was not sent, its data cannot be written as JSON: \(error)")
        }
    }
}
