import TaskKit

func makeGreeter() -> Plugin {
    let manners = Manners()
    let book = GuestBook()
    return Plugin("greeter", version: "1.0.0") {
        Greet()
        Sign(book: book, manners: manners)
        Roll(book: book)
        Page()
        Introduce()
        Mirror()
        Bell()
    }
    .event(Signed.self)
    .event(Introduced.self)
    .configuration(
        PluginConfiguration(Manners.Section()), describing: Manners.Section.settings, reloadable: true,
        check: { section in try section.check() }, onChange: { section in manners.take(section) }
    )
    .onStart { context in
        try await book.open(in: context.stateDirectory)
        await book.show(in: context)
    }
    .onStop { await book.finish() }
    .launchWorker("greeter.count", phase: .afterListening, required: false) { context in
        context.log.notice("\(await book.names().count) guests have signed.")
    }
    .onSession { change, caller in
        if change == .closed { manners.forget(caller.session) }
    }
}

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    makeGreeter().export()
}
