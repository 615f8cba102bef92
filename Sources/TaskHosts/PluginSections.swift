public import BridgeJSON
public import TaskRuntime

/// The sections of the configuration that plugins check, store and change.
extension PluginLoader {
    /// Makes the plugin check its section of the configuration and store it.
    ///
    /// - Throws: ``BridgeError``; its code is `configuration.invalid`, with data `path`, `expected` and `got`, if the
    ///   section is invalid.
    public func configure(_ plugin: PluginInstance, section: JSON) async throws(BridgeError) {
        try await perform(.configure, plugin, section)
    }

    /// Makes a running plugin check another section of the configuration without using it.
    ///
    /// - Throws: As ``configure(_:section:)``.
    public func check(_ plugin: PluginInstance, section: JSON) async throws(BridgeError) {
        try await perform(.checkConfiguration, plugin, section)
    }

    /// Makes a running plugin use another section of the configuration. Only for plugins whose manifest allows it.
    ///
    /// - Throws: As ``configure(_:section:)``; in this case the plugin continues with its previous section.
    public func reconfigure(_ plugin: PluginInstance, section: JSON) async throws(BridgeError) {
        let answer = try await perform(.reconfigure, plugin, section)
        try runtime.takeInterceptedTasks(answer, of: plugin)
    }
}
