extension Plugin {
    /// The name that it was given: the daemon's lists show it, and its section of the configuration bears it. Known at
    /// once, on any thread that has the plugin.
    public var name: String { parts.name }
}
