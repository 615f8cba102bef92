internal import PageBridge
internal import WebKitViews
internal import WebProfiles

/// The scripts and styles of future documents, shared by all pages.
@MainActor
struct SharedAdditions {
    /// A key of an addition. An addition that a client adds twice exists twice.
    private struct Key: Hashable {
        var kind: PageScripts.Kind
        var script: UserScript
        var copy: Int
    }

    private var made: [Key: DocumentAddition] = [:]
    /// The additions in the order in which documents get them.
    private(set) var list: [DocumentAddition] = []

    /// Replaces all additions; unchanged additions stay the same objects.
    mutating func set(_ wanted: [(kind: PageScripts.Kind, script: UserScript)]) {
        let before = made
        made = [:]
        list = wanted.map { kind, script in
            var key = Key(kind: kind, script: script, copy: 0)
            while made[key] != nil { key.copy += 1 }
            let addition = before[key] ?? Self.make(kind, script)
            made[key] = addition
            return addition
        }
    }

    private static func make(_ kind: PageScripts.Kind, _ script: UserScript) -> DocumentAddition {
        switch kind {
        case .script: DocumentAddition(script: script)
        case .style: DocumentAddition(style: script)
        }
    }
}

extension Container {
    /// The additions of future documents: the bridge, the parameters, then those of the profile and of clients.
    var wantedAdditions: [(kind: PageScripts.Kind, script: UserScript)] {
        var wanted: [(kind: PageScripts.Kind, script: UserScript)] = []
        if !settings.bridgeOrigins.isEmpty {
            var bridge = settings.bridgeScripts
            bridge.handlers = handlers.list
            let patterns = settings.bridgeOrigins.map(\.pattern)
            wanted.append((.script, UserScript(bridge.porter, world: world, patterns: patterns)))
            wanted.append((.script, UserScript(bridge.shim, patterns: patterns)))
        }
        if let parameters = PageScripts.giving(parameters) { wanted.append((.script, parameters)) }
        return wanted + scripts.all.map { ($0.kind, $0.script) }
    }
}
