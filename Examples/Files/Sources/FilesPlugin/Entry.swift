import TaskKit

func makeFiles() -> Plugin {
    let folder = Folder()
    return Plugin("files", version: "1.0.0") {
        List(folder: folder)
        Read(folder: folder)
        Write(folder: folder)
        Remove(folder: folder)
    }
    .event(FileChanged.self)
    .configuration(
        PluginConfiguration(Section()), describing: Section.settings, check: { section in try section.check() },
        onChange: { section in folder.take(section) }
    )
    .onStart { context in
        try await folder.open(in: context.stateDirectory)
        Task { await watch(folder, context) }
    }
}

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    makeFiles().export()
}
