public import BridgeJSON

extension Bridge {
    /// Calls a task and waits for its result.
    ///
    /// If the Swift task that waits is cancelled, the call ends immediately with `call.cancelled`, and the daemon ends
    /// its work.
    ///
    ///     let answer: Answer = try await bridge.call("greet", Who(name: "Ada"), timeout: .seconds(5))
    ///     let json = try await bridge.call("bridge.status", as: JSON.self)
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: The options: any value that can be encoded as JSON, including `JSON`; `{}` by default.
    ///   - result: The type of the result. `JSON` accepts any result.
    ///   - session: The session that must have registered the task; `nil` for any.
    ///   - timeout: How long to wait, rounded to milliseconds; by default as long as the task or the daemon allows. It
    ///     includes the wait for a connection.
    ///   - retry: The errors after which the call is made again instead of throwing.
    /// - Throws: The error in the callback; `session.closed` if the connection is lost; `options.invalid` if the
    ///   options cannot be encoded as JSON; `result.invalid` if the result does not fit its type; `message.too_large`;
    ///   `busy` if too many calls wait for a connection.
    public func call<Result: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable = JSON.object([:]), as result: Result.Type = Result.self,
        session: SessionID? = nil, timeout: Timeout = .standard, retry: Retry = .never
    ) async throws(BridgeError) -> Result {
        let request = CallRequest(
            task, try CallJSON.options(options, of: task), session: session, timeout: timeout, retry: retry)
        let own = self.session
        return try CallJSON.result(try await own.calls.call(request), of: task, own.streamReaders(nil))
    }

    /// Calls a task that reports progress. When this returns, the call has been sent or waits for a connection.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: Its options, any value that has JSON.
    ///   - progress: The type of the intermediate results. Values that do not fit it are left out.
    ///   - result: The type of the result.
    ///   - session: The session that must have registered the task; `nil` for any.
    ///   - timeout: How long the call may take; by default as long as the task's own timeout.
    ///   - retry: The errors after which the call is made again.
    /// - Returns: The call. It is cancelled when the value is released.
    /// - Throws: As `call(_:_:as:session:timeout:retry:)` until the call has been sent; `CallProgress.result` throws
    ///   later errors.
    public func callWithProgress<Progress: Decodable & Sendable, Result: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable = JSON.object([:]),
        progress: Progress.Type = Progress.self, as result: Result.Type = Result.self, session: SessionID? = nil,
        timeout: Timeout = .standard, retry: Retry = .never
    ) async throws(BridgeError) -> CallProgress<Progress, Result> {
        let request = CallRequest(
            task, try CallJSON.options(options, of: task), session: session, timeout: timeout, retry: retry)
        return CallProgress(self, try await self.session.calls.begin(request))
    }

    /// Calls a task without waiting for it; its outcome is not reported. Returns when this program's output has room
    /// for the message.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: Its options, any value that has JSON.
    ///   - session: The session that must have registered the task; `nil` for any.
    /// - Throws: `options.invalid`, `message.too_large`; the reason why there is no connection.
    public func notify(
        _ task: String, _ options: some Encodable & Sendable = JSON.object([:]), session: SessionID? = nil
    ) async throws(BridgeError) {
        try await self.session.calls.notify(
            CallRequest(task, try CallJSON.options(options, of: task), session: session))
    }

    /// Publishes an event to all clients that subscribe to it, including this bridge. Waits for the daemon's answer.
    ///
    /// - Parameters:
    ///   - event: The event's name, such as `page.shown`.
    ///   - data: The event's data: any value that can be encoded as JSON; `null` by default.
    ///   - retain: Whether the daemon keeps the event, in place of the previous one of this name, and sends it to all
    ///     clients that subscribe later.
    /// - Throws: As `call(_:_:as:session:timeout:retry:)`; `permission.denied` if a rule forbids it; `quota.exceeded`
    ///   if too many events are retained.
    public func publish(
        _ event: String, _ data: some Encodable & Sendable = JSON.null, retain: Bool = false
    ) async throws(BridgeError) {
        var options: JSONObject = [
            "event": .string(event), "data": try CallJSON.options(data, of: "bridge.publish"),
        ]
        if retain { options["retain"] = true }
        _ = try await session.calls.call(CallRequest("bridge.publish", .object(options)))
    }

    /// Calls a task that returns a table in pages, such as `bridge.sessions`, until the table is complete.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: The options, without a cursor.
    ///   - list: The member that continues from page to page: an array or a string.
    ///   - timeout: How long to wait for each page.
    /// - Returns: The first page, with the whole list and without a cursor.
    /// - Throws: As `call(_:_:as:session:timeout:retry:)`.
    public func callPages(
        _ task: String, _ options: JSONObject = [:], list: String, timeout: Timeout = .standard
    ) async throws(BridgeError) -> JSON {
        let first = try await call(task, JSON.object(options), as: JSON.self, timeout: timeout)
        guard var result = first.objectValue, var cursor = first["cursor"] else { return first }
        var elements = first[list]?.arrayValue ?? []
        var text = first[list]?.stringValue
        var options = options
        while true {
            options["cursor"] = cursor
            let page = try await call(task, JSON.object(options), as: JSON.self, timeout: timeout)
            elements += page[list]?.arrayValue ?? []
            text = text.map { $0 + (page[list]?.stringValue ?? "") }
            // The same cursor twice would repeat forever.
            guard let next = page["cursor"], next != cursor else { break }
            cursor = next
        }
        result["cursor"] = nil
        result[list] = text.map(JSON.string) ?? .array(elements)
        return .object(result)
    }
}
