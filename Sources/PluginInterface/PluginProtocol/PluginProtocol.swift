// PluginProtocol: the messages between the daemon and plugin processes, for both ends: names, and lines over a socket.
// docs/plugin-processes.md describes the protocol.

/// The names and limits of the protocol.
package enum PluginProtocol {
    /// The name of the protocol in `plugin.hello`.
    package static let name = "trestle-plugin"
    /// The version of the protocol. A process with another major version is refused.
    package static let version = "1.0"
    /// The environment variable with the number of the process's descriptor.
    package static let descriptorVariable = "TRESTLE_PLUGIN_FD"
    /// The environment variable with the plugin's name.
    package static let pluginVariable = "TRESTLE_PLUGIN"
    /// The process's descriptor.
    package static let descriptor: Int32 = 3
    /// The maximum length of a log line, in bytes; longer ones are cut.
    package static let logLineBytes = 8 << 10
    /// The maximum length of data that the daemon's loop decodes, in bytes: errors, options of `plugin.log` and
    /// `plugin.metrics`.
    package static let newsBytes = 64 << 10
    /// The number of bytes by which a line may be longer than a message, for the members around the payload.
    package static let envelopeBytes = 64 << 10
}
