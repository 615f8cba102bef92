// TaskKit: the only module that authors of Trestle plugins import.
//
// A plugin is a shared library with one exported function, described in `trestle_plugin.h`. TaskKit implements that
// interface. It converts typed Swift tasks, launch workers and hooks into the table that the daemon calls. It converts
// the daemon's table into `Call`, `Reply`, `PluginContext` and an executor that runs the plugin's `async` code.
//
// Several plugins can run in one process, each with its own statically linked copy of this module. The module therefore
// has no global state that two plugins could appear to share. All state belongs to one `PluginRuntime` per plugin.

// The signatures of this module use JSON, its coders, `BridgeError`, the types for the ends of streams, and
// `BlockingThreads` with `BlockingExecutor`. A plugin imports TaskKit alone and must be able to name these types. Swift
// has no public spelling of `@_exported`: the package depends on these lines and on the compiler of the toolchain that
// it names.
@_exported import BlockingLanes
@_exported import BridgeJSON
@_exported import ByteStreams

public import CTaskPlugin

/// The table that a plugin's entry point passes to the daemon: `trestle_plugin_entry` returns a pointer to it.
///
/// An alias instead of a re-export of the C module, because the header also declares `trestle_plugin_entry`. With that
/// declaration visible, the author's function of the same name would be a duplicate.
public typealias trestle_plugin = CTaskPlugin.trestle_plugin
