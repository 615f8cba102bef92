// Messages that a plugin sends without an answer: events and one-way calls. Any thread; each message follows those that
// its thread has sent before. A value without a JSON form is not sent, with a warning in the log; see ``Sender``.

extension Call {
    /// Sends an event to every session that subscribed to its name.
    ///
    /// - Parameters:
    ///   - event: The event's name, such as `record.changed`.
    ///   - data: The event's data.
    ///   - retain: Whether the daemon keeps the event for later subscribers. It replaces the previous event of the same
    ///     name, and is kept until `forget` is called or the plugin is unloaded. A plugin can have at most 256 such
    ///     events and 1 MiB in total; an event beyond that is not sent, with a warning in the log.
    public func publish(_ event: String, _ data: some Encodable = JSON.null, retain: Bool = false) {
        sender.publish(event, data, retain: retain)
    }

    /// Sends an event to some sessions only.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - data: The event's data.
    ///   - sessions: The sessions that receive the event if they subscribed to its name.
    ///   - direct: Whether all of these sessions receive it, with or without a subscription.
    public func publish(_ event: String, _ data: some Encodable, to sessions: [SessionID], direct: Bool = false) {
        sender.publish(event, data, to: sessions, direct: direct)
    }

    /// Removes an event that this plugin published with `retain`.
    ///
    /// - Parameter event: The event's name. Does nothing if no event of this name is kept.
    public func forget(_ event: String) { sender.forget(event) }

    /// Calls another task on behalf of this call's caller, and does not wait for its end. If this call ends first, the
    /// other call is cancelled; use `plugin.notify` for a call that must outlive this one.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: The task's options; an object in JSON.
    ///   - session: The session that must have registered the task; `nil` for any task.
    public func notify(_ task: String, _ options: some Encodable = Empty(), session: SessionID? = nil) {
        sender.notify(task, options, session: session)
    }

    /// Sends a typed event; see `publish(_:_:retain:)`.
    public func publish<Event: BridgeEvent>(_ event: Event, retain: Bool = false) {
        sender.publish(Event.name, event, retain: retain)
    }

    /// Sends a typed event to some sessions only; see `publish(_:_:to:direct:)`.
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

    /// Removes an event that this plugin published with `retain`.
    ///
    /// - Parameter event: The event's name. Does nothing if no event of this name is kept.
    public func forget(_ event: String) { sender.forget(event) }

    /// Calls a task in the plugin's own name, and does not wait for its end.
    ///
    /// - Parameters:
    ///   - task: The task's name.
    ///   - options: The task's options; an object in JSON.
    ///   - session: The session that must have registered the task; `nil` for any task.
    public func notify(_ task: String, _ options: some Encodable = Empty(), session: SessionID? = nil) {
        sender.notify(task, options, session: session)
    }

    /// Sends a typed event; see `Call.publish(_:_:retain:)`.
    public func publish<Event: BridgeEvent>(_ event: Event, retain: Bool = false) {
        sender.publish(Event.name, event, retain: retain)
    }

    /// Sends a typed event to some sessions only; see `Call.publish(_:_:to:direct:)`.
    public func publish<Event: BridgeEvent>(_ event: Event, to sessions: [SessionID], direct: Bool = false) {
        sender.publish(Event.name, event, to: sessions, direct: direct)
    }

    var sender: Sender { Sender(runtime: runtime, parent: 0) }
}
