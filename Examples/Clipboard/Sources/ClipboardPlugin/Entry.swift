import TaskKit

func makeClipboard() -> Plugin {
    let clipboard = Clipboard()
    return Plugin("clipboard", version: "1.0.0") {
        Read(clipboard: clipboard)
        Write(clipboard: clipboard)
        Clear(clipboard: clipboard)
    }
    .configuration(
        PluginConfiguration(Section()), describing: Section.settings, reloadable: true,
        check: { section in try section.check() }, onChange: { section in clipboard.take(section) }
    )
    .onStop { await clipboard.finish() }
}

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    makeClipboard().export()
}
