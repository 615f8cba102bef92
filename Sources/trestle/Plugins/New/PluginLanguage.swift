import ArgumentParser

/// What a plugin is written in.
enum PluginLanguage: String, CaseIterable, ExpressibleByArgument, Sendable {
    case swift
    case c
    case python
    case sh
}
