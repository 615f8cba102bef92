import BridgeClient
import BridgeJSON

/// The error of a command whose plugin does not exist in the daemon.
enum MissingPlugin {
    /// - Parameters:
    ///   - plugin: The plugin's name.
    ///   - work: The plugin's purpose, for the message: "sends requests".
    ///   - error: The daemon's error that the task is unknown.
    static func error(_ plugin: String, that work: String, _ error: BridgeError) -> BridgeError {
        BridgeError(
            error.code,
            "the daemon has no plugin \(plugin), which \(work): `trestle plugin list` lists its plugins, and "
                + "plugins.disabled in its configuration lists those that are not started", data: error.data)
    }
}
