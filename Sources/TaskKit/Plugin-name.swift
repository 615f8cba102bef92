extension Plugin {
    /// The plugin's name. The daemon's lists show it, and the plugin's section of the configuration has this name.
    /// Available immediately, on any thread.
    public var name: String { parts.name }
}
