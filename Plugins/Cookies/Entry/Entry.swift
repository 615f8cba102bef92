// The entry point of libCookiesPlugin.so.
import CookiesTasks
import TaskKit

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.cookies().export()
}

/// Requests a process of its own for the plugin by default, because the plugin parses untrusted data.
@c public func trestle_plugin_wants_process() {}
