import BridgeJSON

// bridge.subscribe, bridge.unsubscribe, bridge.publish.
extension TaskRuntime {
    var eventTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.subscribe", "Subscribes to events by name or prefix.", text: Events.self,
                optionBytes: TaskEntry.usualOptionBytes, isPublic: true
            ) {
                [unowned self] call, options throws(BridgeError) in try subscribe(call, options)
            },
            BridgeTasks.Task(
                "bridge.unsubscribe", "Ends subscriptions to events.", text: Events.self,
                optionBytes: TaskEntry.usualOptionBytes, isPublic: true
            ) {
                [unowned self] call, options throws(BridgeError) in try unsubscribe(call, options)
            },
            BridgeTasks.Task(
                "bridge.publish", "Sends an event to its subscribers.", text: Publish.self, isPublic: true
            ) {
                [unowned self] call, options throws(BridgeError) in try publishEvent(call, options)
            },
        ]
    }

    private struct Events: Decodable {
        var events: [String]
    }

    /// The same options, with patterns that are read a few at a time.
    private struct ReadableEvents: Decodable {
        var events: NameReader
    }

    private func subscribe(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON? {
        let session = try callingSession(call)
        let names = try BridgeTasks.Task.decode(ReadableEvents.self, options).events
        let dialect = call.record.pointee.dialect
        components.steps.begin(
            SubscribingJob(calls, call.handle, session, names, dialect: dialect), for: session.account)
        return nil
    }

    private func unsubscribe(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON? {
        let session = try callingSession(call)
        let names = try BridgeTasks.Task.decode(ReadableEvents.self, options).events
        components.steps.begin(UnsubscribingJob(calls, call.handle, session, names), for: session.account)
        return nil
    }

    private struct Publish: Decodable {
        var event: String
        var data: JSON?
        /// Whether the event is retained for later subscribers.
        var retain: Bool?
        /// Whether the retained event is removed. Nothing is published in this case.
        var forget: Bool?
    }

    /// Publishes an event. The data are not decoded, as they may be long; all other options are short.
    private func publishEvent(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON? {
        try withMembers(["event", "data", "retain", "forget"], of: options, for: call) {
            [unowned self] call, members throws(BridgeError) in try publishEvent(call, members)
        }
    }

    private func publishEvent(_ call: Call, _ members: OptionMembers) throws(BridgeError) -> TaskAnswer {
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
        guard let session = call.session else {
            // A plugin in its own name.
            let account = (call.record.pointee.extras?.maker as? PluginInstance)?.account
            events.send(try begin(event, data, for: call, account), for: account)
            return .result(.object([:]))
        }
        // The event waits behind the user's event that is on the way, because jobs of a user run one after the other.
        if events.isSending(for: session.account) {
            return .job(
                PublishingJob(calls, call.handle, session) { [unowned self] call throws(BridgeError) in
                    try begin(event, data, for: call, session.account)
                })
        }
        guard let fanOut = try begin(event, data, for: call, session.account) else { return .result(.object([:])) }
        return .job(PublishingJob(calls, call.handle, session, fanOut))
    }

    /// Publishes the event now, or changes the retained event. Returns the delivery if it is not complete.
    private func begin(
        _ event: Publish, _ data: [UInt8], for call: Call, _ account: UserAccount?
    ) throws(BridgeError) -> FanOut? {
        if let session = call.session {
            try rights.check(.publish, event.event, by: session, to: "publish \(event.event)")
        }
        if event.forget == true || event.retain == true { try checkReplacing(event.event, by: call.session) }
        if event.forget == true {
            events.forget(event.event)
            return nil
        }
        if event.retain == true { try events.retain(event.event, data, of: call.session) }
        if let change = Self.lifecycle[event.event], let session = call.session {
            directory.notify(change, session)
        }
        return events.beginPublishing(event.event, data: data, isRetained: event.retain == true, of: account)
    }

    /// Checks that a session may replace or remove a retained event: it must be the owner, or a rule must allow it.
    /// Plugins may do so in their own name.
    private func checkReplacing(_ name: String, by session: Session?) throws(BridgeError) {
        guard let session, let kept = events.retainedEvent(name), !kept.isOwned(by: session) else { return }
        try rights.check(
            .replace, name, by: session, to: "replace the retained event \(name) of another user or origin")
    }

    /// Returns whether only the daemon or a plugin may publish an event of this name, because subscribers rely on its
    /// source.
    private func isReserved(_ event: String) -> Bool {
        Self.reservedBeginnings.contains { event.hasPrefix($0) }
            || directory.sends(event)
    }

    private static let reservedBeginnings = ["bridge.", "daemon.", "plugin.", "session."]

    /// The events with which a container reports that its page was hidden or shown again. Plugins are notified too.
    private static let lifecycle: [String: SessionChange] = [
        "lifecycle.background": .background, "lifecycle.foreground": .foreground,
    ]
}
