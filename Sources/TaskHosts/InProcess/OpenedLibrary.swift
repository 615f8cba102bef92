import PluginInterface

/// A plugin's library that has been loaded into the daemon's process, and whose manifest is not read yet.
public struct OpenedLibrary {
    let library: PluginLibrary
    let path: String
}
