public import BridgeJSON

extension Bridge {
    /// Calls a task and waits for its result.
    ///
    /// Where the Swift task that waits is cancelled, the call ends immediately with `call.cancelled`, and the daemon
    /// ends its work.
    ///
    ///     let answer: Answer = try await bridge.call("greet", Who(name: "Ada"), timeout: .seconds(5))
    ///     let json = try await bridge.call("bridge.status", as: JSON.self)
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: Its options, any value that has JSON, `JSON` itself too; `{}` unless given.
    ///   - result: The type of the result. `JSON` takes any.
    ///   - session: Only a task that this session registered; nil: any.
    ///   - timeout: How long to wait, rounded to milliseconds; by default as long as the task or the daemon allows.
    ///     Waiting for a connection counts.
    ///   - retry: Which errors are not thrown, but have the call made again.
    /// - Throws: What the callback says; `session.closed` where the connection is lost; `options.invalid` where the
    ///   options have no JSON; `result.invalid` where the result does not fit its type; `message.too_large`; `busy`
    ///   where too many calls wait for a connection.
    public func call<Result: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable = JSON.object([:]), as result: Result.Type = Result.self,
        session: SessionID? = nil, timeout: Timeout = .standard, retry: Retry = .never
    ) async throws(BridgeError) -> Result {
        let request = CallRequest(
            task, try CallJSON.options(options, of: task), session: session, timeout: timeout, retry: retry)
        let own = self.session
        return try CallJSON.result(try await own.calls.call(request), of: task, own.streamReaders(nil))
    }

    /// Calls a task that reports progress. The call has been sent, or waits for a connection, when this returns.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: Its options, any value that has JSON.
    ///   - progress: The type of the intermediate results. One that does not fit it is left out.
    ///   - result: The type of the result.
    ///   - session: Only a task that this session registered; nil: any.
    ///   - timeout: How long the call may take; by default as long as the task's own timeout.
    ///   - retry: Whether the call is made again, after which errors.
    /// - Returns: The call. It is cancelled when it is no longer held.
    /// - Throws: As `call(_:_:as:session:timeout:retry:)`, as long as the call has not been sent; later errors are
    ///   those of `CallProgress.result`.
    public func callWithProgress<Progress: Decodable & Sendable, Result: Decodable & Sendable>(
        _ task: String, _ options: some Encodable & Sendable = JSON.object([:]),
        progress: Progress.Type = Progress.self, as result: Result.Type = Result.self, session: SessionID? = nil,
        timeout: Timeout = .standard, retry: Retry = .never
    ) async throws(BridgeError) -> CallProgress<Progress, Result> {
        let request = CallRequest(
            task, try CallJSON.options(options, of: task), session: session, timeout: timeout, retry: retry)
        return CallProgress(self, try await self.session.calls.begin(request))
    }

    /// Calls a task without waiting for it: nothing reports what becomes of the call. Returns when there is room for
    /// the message in this program's output.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: Its options, any value that has JSON.
    ///   - session: Only a task that this session registered; nil: any.
    /// - Throws: `options.invalid`, `message.too_large`; why there is no connection.
    public func notify(
        _ task: String, _ options: some Encodable & Sendable = JSON.object([:]), session: SessionID? = nil
    ) async throws(BridgeError) {
        try await self.session.calls.notify(
            CallRequest(task, try CallJSON.options(options, of: task), session: session))
    }

    /// Sends an event to all clients that subscribed to it, this bridge too if it did. Waits for the daemon's answer.
    ///
    /// - Parameters:
    ///   - event: Its name, such as `page.shown`.
    ///   - data: What it says, any value that has JSON; `null` unless given.
    ///   - retain: Whether the daemon keeps the event, in place of the one before of this name, and sends it to
    ///     all clients that subscribe later.
    /// - Throws: As `call(_:_:as:session:timeout:retry:)`; `permission.denied` where a rule forbids it;
    ///   `quota.exceeded` where too many events are retained.
    public func publish(
        _ event: String, _ data: some Encodable & Sendable = JSON.null, retain: Bool = false
    ) async throws(BridgeError) {
        var options: JSONObject = [
            "event": .string(event), "data": try CallJSON.options(data, of: "bridge.publish"),
        ]
        if retain { options["retain"] = true }
        _ = try await session.calls.call(CallRequest("bridge.publish", .object(options)))
    }

    /// Calls a task that answers a table in pages, such as `bridge.sessions`, until the table is complete.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: Its options, without a cursor.
    ///   - list: The member that goes on from page to page: an array, or a string.
    ///   - timeout: How long to wait for each page.
    /// - Returns: The first page with the whole list in it, and without a cursor.
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
            // A page that ends where the one before ended would never come to an end.
            guard let next = page["cursor"], next != cursor else { break }
            cursor = next
        }
        result["cursor"] = nil
        result[list] = text.map(JSON.string) ?? .array(elements)
        return .object(result)
    }
}
