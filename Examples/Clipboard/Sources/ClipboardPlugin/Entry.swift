import TaskKit

func makeClipboard() -> Plugin {
    let clipboard = Clipboard()
    return Plugin("clipboard", version: "1.0.0") {
        Read(clipboard: clipboard)
        Write(clipboard: clipboard)
        Clear(clipboard: clipboard)
    }
    .configuration(
        Section.self, settings: Section.settings, effect: .reload,
        check: { section in try section.check() }, apply: { section in clipboard.take(section) }
    )
    .onStop { await clipboard.finish() }
}

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> UnsafePointer<trestle_plugin> {
    makeClipboard().export()
}
