import BridgeJSON
import BridgeMessage

// bridge.calls, bridge.cancel, bridge.kill: the calls in flight.
extension TaskRuntime {
    var callTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(table: "bridge.calls", "Lists the calls in flight.") {
                [unowned self] _, request throws(BridgeError) in try listCalls(request)
            },
            BridgeTasks.Task(
                "bridge.cancel", "Cancels a call of this session that was made in the same dialect.", Cancel.self,
                isPublic: true
            ) {
                [unowned self] call, options throws(BridgeError) in try cancel(call, options)
            },
            BridgeTasks.Task("bridge.kill", "Ends a call in flight.", Kill.self) {
                [unowned self] call, options throws(BridgeError) in try kill(call, options)
            },
        ]
    }

    private func listCalls(_ request: PageRequest) throws(BridgeError) -> [UInt8] {
        let now = clock.now
        return try page(
            "calls", request, of: calls.inFlight(after: try request.number()), position: { String($0.number) },
            text: { $0.origin == .question ? nil : describe($0, now).bytes })
    }

    private func describe(_ call: Call, _ now: RuntimeInstant) -> JSON {
        var object: JSONObject = [
            "call": .number(JSONNumber(call.number)), "task": .string(call.task?.name ?? ""),
            "provider": .string(call.task?.provider.providerName ?? ""),
            "state": call.state == .running ? "running" : "waiting",
            "ageMs": .number(JSONNumber(now.since(call.startedAt).wholeMilliseconds)),
        ]
        if let remaining = call.remaining(at: now) {
            object["timeoutMs"] = .number(JSONNumber(remaining.wholeMilliseconds))
        }
        if let session = call.session {
            object["session"] = .number(JSONNumber(session.number))
            object["uid"] = .number(JSONNumber(UInt64(session.peer.uid)))
        }
        switch call.origin {
        case .session: if call.hasID { object["callbackId"] = try? JSON(parsing: call.idDescription) }
        case .plugin: object["plugin"] = .string(call.pluginName ?? "")
        case .daemon, .question: object["plugin"] = "trestled"
        }
        if let asked = call.interception?.asked {
            object["interceptor"] = asked.interceptor.reference
            object["state"] = calls.call(asked.question)?.state == .running ? "running" : "waiting"
        }
        if let original = call.interception?.original { object["calledAs"] = .string(original.name) }
        return .object(object)
    }

    private struct Cancel: Decodable {
        var callbackId: JSON
    }

    /// Cancels a call, for dialects without a message of their own for this.
    private func cancel(_ caller: Call, _ options: Cancel) throws(BridgeError) -> JSON {
        let session = try callingSession(caller)
        let cancelled = CallbackID.withID(options.callbackId, in: caller.record.pointee.dialect) {
            session.index.call(of: $0)
        }
        if let cancelled {
            calls.abort(cancelled, BridgeError(.callCancelled, "the caller cancelled the call"), reason: .caller)
        }
        return ["cancelled": .bool(cancelled != nil)]
    }

    private struct Kill: Decodable {
        var call: UInt64
    }

    private func kill(_ caller: Call, _ options: Kill) throws(BridgeError) -> JSON {
        guard let call = calls.call(numbered: options.call), call != caller,
            call.origin != .question
        else {
            throw BridgeError(.callNotFound, "no call \(options.call) is in flight; bridge.calls lists those that are")
        }
        calls.abort(call, BridgeError(.callCancelled, "an operator ended the call"), reason: .caller)
        return .object([:])
    }
}

extension ErrorCode {
    /// `bridge.kill` names a call that is not in flight.
    static let callNotFound: ErrorCode = "call.not_found"
}
