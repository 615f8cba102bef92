// The entry point of libCloseWebPlugin.so.
import CloseWebTasks
import TaskKit

/// Called by the daemon, once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.closeWeb().export()
}
