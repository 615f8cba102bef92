// What a plugin sends and gets no answer to: events, and one-way calls. Any thread; each comes behind what its thread
// has sent before. What has no JSON is not sent, with a warning in the log; see ``Sender``.

extension Call {
    /// Sends an event to every session that subscribed to its name.
    ///
    /// - Parameters:
    ///   - event: Its name, such as `record.changed`.
    ///   - data: What it says.
    ///   - retain: Whether the daemon keeps it for later subscribers, in place of the one before of its name, until
    ///     it is forgotten or the plugin is unloaded. A plugin has 256 such events and 1 MiB at most; one that is
    ///     too much is not sent, with a warning in the log.
    public func publish(_ event: String, _ data: some Encodable = JSON.null, retain: Bool = false) {
        sender.publish(event, data, retain: retain)
    }

    /// Sends an event to some sessions only.
    ///
    /// - Parameters:
    ///   - event: Its name.
    ///   - data: What it says.
    ///   - sessions: To those of these that subscribed to the name.
    ///   - direct: To all of these.
    public func publish(_ event: String, _ data: some Encodable, to sessions: [SessionID], direct: Bool = false) {
        sender.publish(event, data, to: sessions, direct: direct)
    }

    /// Ends the keeping of an event that this plugin published with `retain`.
    ///
    /// - Parameter event: Its name. Nothing happens when no event of this name is kept.
    public func forget(_ event: String) { sender.forget(event) }

    /// Calls another task on behalf of this call's caller, and does not wait for its end. When this call ends before
    /// that, the other one is cancelled: what is to outlive it is sent by `plugin.notify`.
    ///
    /// - Parameters:
    ///   - task: Its name.
    ///   - options: What it is called with; an object in JSON.
    ///   - session: Only a task that this session registered; nil: any.
    public func notify(_ task: String, _ options: some Encodable = Empty(), session: SessionID? = nil) {
        sender.notify(task, options, session: session)
    }

    /// Sends an event that has a type; see `publish(_:_:retain:)`.
    public func publish<Event: BridgeEvent>(_ event: Event, retain: Bool = false) {
        sender.publish(Event.name, event, retain: retain)
    }

    /// Sends an event that has a type to some sessions only; see `publish(_:_:to:direct:)`.
    public func publish<Event: BridgeEvent>(_ event: Event, to sessions: [SessionID], direct: Bool = false) {
        sender.publish(Event.name, event, to: sessions, direct: direct)
    }

    var sender: Sender { Sender(runtime: runtime, parent: handle) }
}

extension PluginContext {
    /// Sends an event to every session that subscribed to its name; see `Call.publish(_:_:retain:)`.
    public func publish(_ event: String, _ data: some Encodable = JSON.null, retain: Bool = false) {
        sender.publish(event, data, retain: retain)
    }

    /// Sends an event to some sessions only; see `Call.publish(_:_:to:direct:)`.
    public func publish(_ event: String, _ data: some Encodable, to sessions: [SessionID], direct: Bool = false) {
        sender.publish(event, data, to: sessions, direct: direct)
    }

    /// Ends the keeping of an event that this plugin published with `retain`.
    ///
    /// - Parameter event: Its name. Nothing happens when no event of this name is kept.
    public func forget(_ event: String) { sender.forget(event) }

    /// Calls a task in the plugin's own name, and does not wait for its end.
    ///
    /// - Parameters:
    ///   - task: Its name.
    ///   - options: What it is called with; an object in JSON.
    ///   - session: Only a task that this session registered; nil: any.
    public func notify(_ task: String, _ options: some Encodable = Empty(), session: SessionID? = nil) {
        sender.notify(task, options, session: session)
    }

    /// Sends an event that has a type; see `Call.publish(_:_:retain:)`.
    public func publish<Event: BridgeEvent>(_ event: Event, retain: Bool = false) {
        sender.publish(Event.name, event, retain: retain)
    }

    /// Sends an event that has a type to some sessions only; see `Call.publish(_:_:to:direct:)`.
    public func publish<Event: BridgeEvent>(_ event: Event, to sessions: [SessionID], direct: Bool = false) {
        sender.publish(Event.name, event, to: sessions, direct: direct)
    }

    var sender: Sender { Sender(runtime: runtime, parent: 0) }
}
