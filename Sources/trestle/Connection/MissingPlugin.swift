import BridgeClient
import BridgeJSON

/// What a command says that needs a plugin, where the daemon has none of that name.
enum MissingPlugin {
    /// - Parameters:
    ///   - plugin: Its name.
    ///   - work: What it does, for the person: "sends requests".
    ///   - error: That the daemon knows no such task.
    static func error(_ plugin: String, that work: String, _ error: BridgeError) -> BridgeError {
        BridgeError(
            error.code,
            "the daemon has no plugin \(plugin), which \(work): `trestle plugin list` shows those that it has, and "
                + "plugins.disabled of its configuration those that it leaves out", data: error.data)
    }
}
