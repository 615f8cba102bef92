import FileTrust

/// What the daemon runs, or lets say what it runs.
package enum PluginFile {
    /// What a plugin consists of, and the way to it, must be root's or the daemon's own user's, and no other user may
    /// write it.
    package static func check(_ path: String) throws(PluginLoadError) {
        do throws(FileTrust.Doubt) { try FileTrust.check(path) } catch {
            throw PluginLoadError(description: error.description)
        }
    }
}
