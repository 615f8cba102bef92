// The entry point of libCloseWebPlugin.so.
import CloseWebTasks
import TaskKit

/// Returns the plugin's table. The daemon calls this once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.closeWeb().export()
}
