// The entry point of libCookiesPlugin.so.
import CookiesTasks
import TaskKit

/// Called once by the daemon.
@c public func trestle_plugin_entry() -> PluginTable {
    Plugin.cookies().export()
}

/// It reads what strangers send: by default it runs in a process of its own.
@c public func trestle_plugin_wants_process() {}
