// The entry point of libFetchPlugin.so.
import FetchTasks
import TaskKit

/// Called by the daemon, once.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.fetch().export()
}
