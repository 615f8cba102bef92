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
            BridgeTasks.Task(
                "bridge.publish", "Sends an event to those who listen.", text: Publish.self, isOpen: true
            ) {
                [unowned self] call, options throws(BridgeError) in try publishEvent(call, options)
            },
        ]
    }

    private struct Events: Decodable {
        var events: [String]
    }

    private func patterns(_ options: Events) throws(BridgeError) -> [EventPattern] {
        var patterns: [EventPattern] = []
        patterns.reserveCapacity(options.events.count)
        for (index, text) in options.events.enumerated() {
            guard let pattern = EventPattern(text) else {
                throw BridgeError(
                    JSONMismatch(
                        path: "$.events[\(index)]", expected: "the name of an event: \(EventPattern.rule)",
                        got: "\"\(text.prefix(64))\""))
            }
            patterns.append(pattern)
        }
        return patterns
    }

    private func subscribe(_ call: Call, _ options: Events) throws(BridgeError) -> JSON? {
        let session = try callingSession(call)
        var known = Set(session.subscriptions.keys)
        let added = try patterns(options).filter { known.insert($0).inserted }
        // Before anything is asked about each of them.
        try checkSubscriptions(known.count, of: session)
        // Behind a beginning are events of all kinds: each is looked at when it is sent.
        for pattern in added where !pattern.isBeginning && !mayGet(pattern.text, session) {
            try check(.subscribe, pattern.text, by: session, to: "listen to \(pattern.text)")
        }
        let kept = retained.events(for: added, butNotFor: session.patterns)
        for pattern in added { subscriptions.add(pattern, to: session) }
        session.subscribedDialect = call.record.pointee.dialect
        // The callback first: then the client knows what an event is for.
        subscriptionList(session).bytes.withUnsafeBytes { end(call, .result($0)) }
        for event in kept where mayGet(event.name, session) {
            send(event.line(in: session.eventDialect), to: session)
        }
        return nil
    }

    private func unsubscribe(_ call: Call, _ options: Events) throws(BridgeError) -> JSON {
        let session = try callingSession(call)
        for pattern in try patterns(options) { subscriptions.remove(pattern, from: session) }
        return subscriptionList(session)
    }

    private func subscriptionList(_ session: Session) -> JSON {
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

    /// The data stay text, however long they are; everything else is short.
    private func publishEvent(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON {
        let members = try OptionMembers(["event", "data", "retain", "forget"], of: options, check)
        let event = try members.decode(Publish.self, without: "data")
        let data = members["data"].map { Array($0) } ?? Array("null".utf8)
        guard PublicName.isAllowed(event.event) else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.event", expected: "the name of an event: \(PublicName.rule)",
                    got: "\"\(event.event.prefix(64))\""))
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
        if event.forget == true || event.retain == true { try checkReplacing(event.event, by: call.session) }
        if event.forget == true {
            retained.forget(event.event)
            return .object([:])
        }
        if event.retain == true { try retain(event.event, data, of: call.session) }
        if let change = Self.lifecycle[event.event], let session = call.session {
            for plugin in plugins { plugin.tell(change, session) }
        }
        publish(event.event, data: data)
        return .object([:])
    }

    /// A retained event is its owner's to replace and to forget, or of whom a rule allows it. Plugins may do so in their own
    /// name.
    private func checkReplacing(_ name: String, by session: Session?) throws(BridgeError) {
        guard let session, let kept = retained.event(name), !kept.isOwned(by: session) else { return }
        try check(.replace, name, by: session, to: "replace the retained event \(name) of another user or origin")
    }

    /// Whether an event of this name is news of the daemon's own or of a plugin's, which others rely on.
    private func isReserved(_ event: String) -> Bool {
        Self.reservedBeginnings.contains { event.hasPrefix($0) }
            || plugins.contains { $0.manifest.events.contains { $0.name.isExactly(event) } }
    }

    private static let reservedBeginnings = ["bridge.", "daemon.", "plugin.", "session."]

    /// A container says with these that its page went out of sight, or came back; plugins are told too.
    private static let lifecycle: [String: SessionChange] = [
        "lifecycle.background": .background, "lifecycle.foreground": .foreground,
    ]
}
