// TaskKit: what authors of Trestle plugins import, and all that they import.
//
// A plugin is a shared library with one exported function, described in `trestle_plugin.h`. TaskKit fills that
// interface: it turns typed Swift tasks, launch workers and hooks into the table that the daemon calls, and the
// daemon's table into `Call`, `Reply`, `PluginContext` and an executor on which the plugin's `async` code runs.
//
// Several plugins live in one process, each with a copy of this module of its own, linked statically; so nothing in
// here may be a global that two plugins could think they share. All state hangs off one `PluginRuntime` per plugin.

// JSON, its coders, `BridgeError` and the ends of streams stand in the signatures of this module, lanes are a part of
// what it offers, and a plugin imports TaskKit alone: it must be able to write these types without knowing in which
// module they live. There is no public spelling of `@_exported`; the whole package depends on these lines and the
// compiler of the toolchain it names.
@_exported import BlockingLanes
@_exported import BridgeJSON
@_exported import ByteStreams

public import CTaskPlugin

/// The table that a plugin's entry point hands to the daemon: the return type of `trestle_plugin_entry`.
///
/// An alias instead of a re-export of the C module: with the header's own declaration of `trestle_plugin_entry`
/// in sight, an author's function of that name would be the second of two.
public typealias trestle_plugin = CTaskPlugin.trestle_plugin
