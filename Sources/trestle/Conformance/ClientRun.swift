import BridgeClient
import BridgeJSON

/// Runs the client steps of a vector with BridgeClient.
struct ClientRun {
    /// Runs the client steps.
    ///
    /// - Returns: The first mismatch, with the step's JSON path; `nil` if all steps passed.
    static func failure(of vector: Vector, path: String, stepTimeout: Duration) async -> String? {
        do {
            let client = try await Bridge.connectOnce(to: path, as: "trestle conformance")
            var run = ClientRun(client: client, stepTimeout: stepTimeout)
            let failure = await run.failure(of: vector.client)
            await client.close()
            return failure
        } catch {
            return "no client can connect: \(error)"
        }
    }

    let client: Bridge
    let stepTimeout: Duration
    private var pattern = VectorPattern()
    private var events: EventStream.AsyncIterator?
    /// Held while events are expected.
    private var stream: EventStream?
    private var registrations: [String: Registration] = [:]

    init(client: Bridge, stepTimeout: Duration) { (self.client, self.stepTimeout) = (client, stepTimeout) }

    private mutating func failure(of steps: [Vector.ClientStep]) async -> String? {
        for (index, step) in steps.enumerated() {
            do {
                if let failure = try await carryOut(step) { return "$.client[\(index)]: \(failure)" }
            } catch {
                return "$.client[\(index)]: \(error)"
            }
        }
        return nil
    }

    private mutating func carryOut(_ step: Vector.ClientStep) async throws -> String? {
        switch step {
        case .call(let task, let options, let timeout, let progress, let outcome):
            return await call(task, pattern.filled(options ?? [:]), timeout, progress, outcome)
        case .subscribe(let names):
            let stream = try await client.subscribe(to: names)
            self.stream = stream
            events = stream.makeAsyncIterator()
        case .event(let expected): return try await event(expected)
        case .register(let task, let answer):
            registrations[task] = try await client.register(task) { try await Self.answer($0, $1, answer) }
        case .unregister(let task): try await registrations.removeValue(forKey: task)?.unregister()
        }
        return nil
    }

    private mutating func call(
        _ task: String, _ options: JSON, _ timeout: Duration?, _ progress: [JSON]?, _ outcome: Vector.Outcome
    ) async -> String? {
        var reported: [JSON] = []
        let result: Result<JSON, any Error>
        do {
            if progress == nil {
                result = .success(try await client.callJSON(task, options, timeout: timeout ?? stepTimeout))
            } else {
                let stream = try await client.callJSONWithProgress(task, options, timeout: timeout ?? stepTimeout)
                for await value in stream { reported.append(value) }
                result = .success(try await stream.result)
            }
        } catch {
            result = .failure(error)
        }
        if let progress, let misfit = pattern.misfit(.array(reported), .array(progress)) {
            return "progress: \(misfit)"
        }
        switch (outcome, result) {
        case (.result(let expected), .success(let value)): return pattern.misfit(value, expected)
        case (.error(let expected), .failure(let error as BridgeError)): return pattern.misfit(error.json, expected)
        case (.result(let expected), .failure(let error)):
            return "expected \(expected.text); got the error \(error)"
        case (.error(let expected), .success(let value)):
            return "expected the error \(expected.text); got \(value.text)"
        case (_, .failure(let error)): return "\(error)"
        }
    }

    private mutating func event(_ expected: JSON) async throws -> String? {
        guard let event = try await events?.next() else { return "no event can be received: there is no subscription" }
        return pattern.misfit(["event": .string(event.name), "data": event.data], expected)
    }

    private static func answer(
        _ options: JSON, _ call: IncomingCall, _ answer: Vector.Answer
    ) async throws -> JSON {
        switch answer {
        case .echo: return options
        case .never:
            // Ends with the call: when it is cancelled or the connection is closed.
            try await Task.sleep(for: .seconds(3600))
            throw CancellationError()
        case .error(let error): throw BridgeError(json: error) ?? BridgeError(.internal, "the vector's error is none")
        case .result(let result, let progress):
            for value in progress { call.reportProgress(value) }
            return result
        }
    }
}
