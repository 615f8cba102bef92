import PluginInterface

extension PluginFunction {
    /// The function for a task of the plugin protocol; `nil` if there is none.
    init?(_ name: String) {
        switch name {
        case "plugin.configure": self = .configure
        case "plugin.check", "plugin.reconfigure": self = .reconfigure
        case "plugin.start": self = .start
        case "plugin.launch": self = .launch
        case "plugin.intercept": self = .intercept
        case "plugin.describe": self = .describe
        case "plugin.stop": self = .stop
        case "plugin.save_sessions": self = .saveSessions
        case "plugin.restore_sessions": self = .restoreSessions
        default: return nil
        }
    }
}
