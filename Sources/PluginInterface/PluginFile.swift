import FileTrust

/// The check of files that the daemon executes, or that select the code it executes.
package enum PluginFile {
    /// Checks that a plugin's file and the directories of its path belong to root or the daemon's user, and that no
    /// other user may write to them.
    package static func check(_ path: String) throws(PluginLoadError) {
        do throws(FileTrust.Doubt) { try FileTrust.check(path) } catch {
            throw PluginLoadError(description: error.description)
        }
    }
}
