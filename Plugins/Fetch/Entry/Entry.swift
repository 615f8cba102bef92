// The entry point of libFetchPlugin.so.
import FetchTasks
import TaskKit

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.fetch().export()
}

/// It reads what strangers send: by default it runs in a process of its own.
@c public func trestle_plugin_wants_process() {}
