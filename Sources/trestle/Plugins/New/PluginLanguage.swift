import ArgumentParser

/// The language of a plugin.
enum PluginLanguage: String, CaseIterable, ExpressibleByArgument, Sendable {
    case swift
    case c
    case python
    case sh
}
