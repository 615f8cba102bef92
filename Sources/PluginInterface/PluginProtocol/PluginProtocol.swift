// PluginProtocol: what the daemon and plugin processes say to each other, for both ends: names, and lines over a
// socket. The protocol itself is docs/plugin-processes.md.

/// The names of the protocol.
package enum PluginProtocol {
    /// What it is called in `plugin.hello`.
    package static let name = "trestle-plugin"
    /// Its version. A process of another major one is refused.
    package static let version = "1.0"
    /// The environment variable with the number of the process's descriptor.
    package static let descriptorVariable = "TRESTLE_PLUGIN_FD"
    /// The environment variable with the plugin's name.
    package static let pluginVariable = "TRESTLE_PLUGIN"
    /// The process's descriptor.
    package static let descriptor: Int32 = 3
    /// As much of a line for the log as is written, in bytes.
    package static let logLineBytes = 8 << 10
    /// As long may be what is decoded on the daemon's loop, in bytes: errors, options of `plugin.log` and
    /// `plugin.metrics`.
    package static let newsBytes = 64 << 10
    /// A line may be longer by this than a message may be, for what stands around the message's payload.
    package static let envelopeBytes = 64 << 10
}
