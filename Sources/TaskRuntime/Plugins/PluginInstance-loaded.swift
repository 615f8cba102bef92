public import BridgeJSON

extension PluginInstance {
    /// The error for a caller that loads it again, or loads another plugin of its name.
    public var isLoadedAlready: BridgeError {
        BridgeError(
            .pluginUnavailable,
            "the plugin \(name) is already loaded, from \(path): `trestle plugin reload \(name)` loads it again from "
                + "there, `trestle plugin unload \(name)` removes it, so that another can be loaded",
            data: ["loaded": ["name": .string(name), "path": .string(path)]])
    }
}
