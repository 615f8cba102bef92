internal import BridgeClient
internal import BridgeJSON
internal import PageBridge
internal import WebContainer

struct HandlerOptions: Codable, Sendable {
    var name: String
    var task: String?
}

struct HandlerRemovalOptions: Codable, Sendable {
    var name: String?
    var all: Bool?
}

struct HandlerState: Codable, Sendable {
    var name: String
    var task: String
}

struct HandlerList: Codable, Sendable {
    var handlers: [HandlerState]
}

extension ControlPlane {
    func provideHandlers() async throws(BridgeError) {
        try await provide("web.handlers.add", "Adds webkit.messageHandlers.NAME to pages, which calls a task.") {
            (plane, options: HandlerOptions, call) in
            try plane.admit(call)
            return try plane.add(options)
        }
        try await provide("web.handlers.remove", "Removes a handler from pages, and cancels its calls in flight.") {
            (plane, options: HandlerRemovalOptions, call) in
            try plane.admit(call)
            return try plane.remove(options)
        }
        try await provide("web.handlers.list", "Lists the handlers that were added.") { (plane, _: NoOptions, call) in
            try plane.admit(call)
            return HandlerList(
                handlers: plane.container.handlers.list.map { HandlerState(name: $0.name, task: $0.task) })
        }
    }

    private func add(_ options: HandlerOptions) throws -> JSON {
        let handler = PageHandler(options.name, task: options.task ?? options.name)
        for (key, text) in [("name", handler.name), ("task", handler.task)] where !PageHandlers.isName(text) {
            throw BridgeError(
                .optionsInvalid, "the \(key) has 1 to 128 characters of ASCII, without spaces",
                data: ["path": .string("$.\(key)")])
        }
        do throws(PageHandlers.Refusal) {
            try container.handlers.add(handler)
        } catch {
            switch error {
            case .taken:
                throw BridgeError(
                    "handler.taken",
                    "pages have a handler \(handler.name) already; web.handlers.remove removes those added")
            case .full:
                throw BridgeError(.quotaExceeded, "there are \(PageHandlers.maximum) handlers, which is the maximum")
            }
        }
        return [:]
    }

    private func remove(_ options: HandlerRemovalOptions) throws -> JSON {
        if options.all == true {
            container.handlers.removeAll()
        } else if !container.handlers.remove(options.name ?? "") {
            throw BridgeError("handler.not_found", "there is no such handler; web.handlers.list lists them")
        }
        return [:]
    }
}
