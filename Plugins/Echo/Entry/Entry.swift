// The entry point of libEchoPlugin.so.
import EchoTasks
import TaskKit

/// Returns the plugin's table. The daemon calls this once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.echo().export()
}
