import ArgumentParser

/// The forms in which all settings can be printed.
enum PrintedConfiguration: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// A configuration file.
    case sample
    /// Tables in Markdown.
    case reference
    /// A JSON Schema.
    case schema

    func text(of document: ConfigurationDocument) -> String {
        switch self {
        case .sample: ConfigurationSample(document: document).text
        case .reference: ConfigurationReference(document: document).text
        case .schema: ConfigurationSchema(document: document).text
        }
    }
}
