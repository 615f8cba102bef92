import BridgeJSON

// bridge.subscribe, bridge.unsubscribe, bridge.publish.
extension TaskRuntime {
    var eventTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.subscribe", "Listens to events by name, or by the beginning of one.", Events.self, isOpen: true
            ) {
                [unowned self] call, options throws(BridgeError) in try subscribe(call, options)
            },
            BridgeTasks.Task("bridge.unsubscribe", "Listens to events no more.", Events.self, isOpen: true) {
                [unowned self] call, options throws(BridgeError) in try unsubscribe(call, options)
            },
            BridgeTasks.Task("bridge.publish", "Sends an event to those who listen.", Publish.self, isOpen: true) {
                [unowned self] call, options throws(BridgeError) in try publishEvent(call, options)
            },
        ]
    }

    private struct Events: Decodable {
        var events: [String]
    }

    private func patterns(_ options: Events) throws(BridgeError) -> [EventPattern] {
        var patterns: [EventPattern] = []
        for (index, text) in options.events.enumerated() {
            guard let pattern = EventPattern(text) else {
                throw BridgeError(
                    JSONMismatch(
                        path: "$.events[\(index)]", expected: "the name of an event, * allowed at its end",
                        got: "\"\(text.prefix(64))\""))
            }
            patterns.append(pattern)
        }
        return patterns
    }

    private func subscribe(_ call: Call, _ options: Events) throws(BridgeError) -> JSON? {
        let session = try callingSession(call)
        let before = session.patterns
        var all = before
        let wanted = try patterns(options)
        // Behind a beginning are events of all kinds: each is looked at when it is sent.
        for pattern in wanted where pattern.text.last != "*" && !mayGet(pattern.text, session) {
            try check(.subscribe, pattern.text, by: session, to: "listen to \(pattern.text)")
        }
        for pattern in wanted where !all.contains(pattern) { all.append(pattern) }
        try checkSubscriptions(all.count, of: session)
        session.patterns = all
        session.subscribedDialect = call.record.pointee.dialect
        updateSubscriber(session)
        // The callback first: then the client knows what an event is for.
        subscriptions(session).bytes.withUnsafeBytes { end(call, .result($0)) }
        let kept = retained.events { name in
            session.patterns.contains { $0.matches(name) } && !before.contains { $0.matches(name) }
                && mayGet(name, session)
        }
        for (name, data) in kept { send(name, data, to: [session]) }
        return nil
    }

    private func unsubscribe(_ call: Call, _ options: Events) throws(BridgeError) -> JSON {
        let session = try callingSession(call)
        let ended = Set(try patterns(options))
        session.patterns.removeAll { ended.contains($0) }
        updateSubscriber(session)
        return subscriptions(session)
    }

    private func updateSubscriber(_ session: Session) {
        let isKnown = subscribers.contains { $0 === session }
        if session.patterns.isEmpty {
            subscribers.removeAll { $0 === session }
        } else if !isKnown, session.phase == .open || session.phase == .inputEnded {
            subscribers.append(session)
        }
    }

    private func subscriptions(_ session: Session) -> JSON {
        ["events": .array(session.patterns.map { .string($0.text) })]
    }

    private struct Publish: Decodable {
        var event: String
        var data: JSON?
        /// Whether it is kept for those who subscribe later.
        var retain: Bool?
        /// Whether the one that is kept is to be kept no longer; nothing is published then.
        var forget: Bool?
    }

    private func publishEvent(_ call: Call, _ event: Publish) throws(BridgeError) -> JSON {
        guard let pattern = EventPattern(event.event), !pattern.text.contains("*") else {
            throw BridgeError(
                JSONMismatch(path: "$.event", expected: "the name of an event", got: "\"\(event.event.prefix(64))\""))
        }
        guard !isReserved(event.event) else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.event", expected: "a name that neither the daemon nor a plugin publishes under",
                    got: "\"\(event.event.prefix(64))\""))
        }
        if let session = call.session {
            try check(.publish, event.event, by: session, to: "publish \(event.event)")
        }
        if event.forget == true {
            retained.forget(event.event)
            return .object([:])
        }
        if event.retain == true {
            try retain(event.event, (event.data ?? .null).bytes, of: call.session?.account)
        }
        if let change = Self.lifecycle[event.event], let session = call.session {
            for plugin in plugins { plugin.tell(change, session) }
        }
        publish(event.event, data: event.data ?? .null)
        return .object([:])
    }

    /// Whether an event of this name is news of the daemon's own or of a plugin's, which others rely on.
    private func isReserved(_ event: String) -> Bool {
        Self.reservedBeginnings.contains { event.hasPrefix($0) }
            || plugins.contains { $0.manifest.events.contains { $0.name == event } }
    }

    private static let reservedBeginnings = ["bridge.", "daemon.", "plugin.", "session."]

    /// A container says with these that its page went out of sight, or came back; plugins are told too.
    private static let lifecycle: [String: SessionChange] = [
        "lifecycle.background": .background, "lifecycle.foreground": .foreground,
    ]
}
