import ArgumentParser

/// The forms in which all settings can be printed.
enum PrintedConfiguration: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// A configuration file.
    case sample
    /// Tables in Markdown.
    case reference
    /// A JSON Schema.
    case schema
    /// The effective values and their origins.
    case effective

    /// Whether it depends on the configuration file.
    var readsFile: Bool { self == .effective }

    func text(of document: ConfigurationDocument, _ configuration: Configuration) -> String {
        switch self {
        case .effective: EffectiveConfiguration(configuration).text
        case .sample: ConfigurationSample(document: document).text
        case .reference: ConfigurationReference(document: document).text
        case .schema: ConfigurationSchema(document: document).text
        }
    }
}
