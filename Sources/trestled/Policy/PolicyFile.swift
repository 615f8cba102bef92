// policy.d/*.toml: policy rules, parsed with the locations of problems.
import BridgeJSON
import TOMLDocument
import TaskRuntime
import WebOrigins

/// Reads the rules of one file: `[[rule]]` tables.
struct PolicyFile {
    /// The rules, in their order.
    private(set) var rules: [PolicyRule] = []
    /// The problems.
    private(set) var problems: [ConfigurationProblem] = []
    /// Valid contents that are probably mistakes.
    private(set) var warnings: [ConfigurationProblem] = []

    private let file: String
    private let accounts: AccountNames

    /// - Parameter accounts: Looks up users and groups by name.
    init(_ document: TOMLDocument, _ accounts: AccountNames) {
        file = document.file
        self.accounts = accounts
        for entry in document.root.entries {
            guard entry.key == "rule", let tables = entry.value.array else {
                let hint = entry.key == "rule" ? "expected [[rule]] tables" : "unknown key (known: [[rule]] tables)"
                problem(entry.keyPosition, TOMLText.key(entry.key), hint)
                continue
            }
            for (index, value) in tables.enumerated() { read(value, "rule[\(index)]") }
        }
    }

    private static let keys = [
        "allow", "deny", "group", "names", "origin", "plugin", "uid", "unit", "user",
    ]

    private mutating func read(_ value: TOMLValue, _ path: String) {
        guard let table = value.table else {
            return problem(value.position, path, "expected a table; got \(TOMLText.named(value))")
        }
        let count = problems.count
        let known = effect(of: table, value.position, path)
        // The rest of a rule without a valid effect is checked, too.
        var rule = known ?? PolicyRule(.deny, [], file: file, line: value.position.line)
        for entry in table.entries { read(entry, into: &rule, "\(path).\(TOMLText.key(entry.key))") }
        check(rule, value.position, path)
        if known != nil, problems.count == count { rules.append(rule) }
    }

    private mutating func effect(of table: TOMLTable, _ rulePosition: TOMLPosition, _ path: String) -> PolicyRule? {
        let effects = table.entries.filter { $0.key == "allow" || $0.key == "deny" }
        guard effects.count == 1, let entry = effects.first else {
            problem(
                rulePosition, path,
                "expected either allow or deny, with what is allowed or denied, such as allow = \"call\"")
            return nil
        }
        var verbs: [PolicyVerb] = []
        for (text, position) in texts(entry.value, "\(path).\(entry.key)") {
            guard let verb = PolicyVerb(rawValue: text) else {
                let hint = Suggestion.hint(for: text, among: PolicyVerb.allCases.map(\.rawValue))
                problem(
                    position, "\(path).\(entry.key)",
                    "\(TOMLText.quoted(text)) is not a right that can be allowed\(hint)")
                continue
            }
            verbs.append(verb)
        }
        guard !verbs.isEmpty else { return nil }
        return PolicyRule(entry.key == "allow" ? .allow : .deny, verbs, file: file, line: rulePosition.line)
    }

    private mutating func read(_ entry: TOMLTable.Entry, into rule: inout PolicyRule, _ path: String) {
        switch entry.key {
        case "allow", "deny": break
        case "names":
            let isAboutReach = rule.verbs.contains(.reach)
            rule.names = isAboutReach ? origins(entry.value, path) : names(entry.value, path)
        case "uid": rule.uids = ids(entry.value, path, "user", accounts.uid)
        case "group": rule.gids = ids(entry.value, path, "group", accounts.gid)
        case "origin": rule.origins = texts(entry.value, path).map { ExactText($0.text) }
        case "user": rule.users = texts(entry.value, path).map { ExactText($0.text) }
        case "unit": rule.units = texts(entry.value, path).map { ExactText($0.text) }
        case "plugin": rule.plugins = texts(entry.value, path).map { ExactText($0.text) }
        default:
            problem(
                entry.keyPosition, path, "unknown key\(Suggestion.hint(for: entry.key, among: Self.keys))")
        }
    }

    private mutating func names(_ value: TOMLValue, _ path: String) -> [PolicyName] {
        texts(value, path).compactMap { text, position in
            if let name = PolicyName(text) { return name }
            problem(position, path, "\(TOMLText.quoted(text)) is not a name: a * may only be its last character")
            return nil
        }
    }

    /// Parses the names of a rule about `reach`.
    private mutating func origins(_ value: TOMLValue, _ path: String) -> [PolicyName] {
        texts(value, path).compactMap { text, position in
            do throws(AddressRefusal) {
                let origins = try OriginPattern(text)
                if !origins.isBelowSingleLabel { return PolicyName(origins) }
                problem(
                    position, path,
                    "\(TOMLText.quoted(text)) also covers the domains of other owners: name a domain below it")
            } catch {
                problem(
                    position, path,
                    "\(TOMLText.quoted(text)) is not an origin, such as https://api.example or https://*.example.org: "
                        + error.description)
            }
            return nil
        }
    }

    /// Parses numbers and names of users or groups. An unknown name matches no caller.
    private mutating func ids(
        _ value: TOMLValue, _ path: String, _ kind: String, _ find: (String) -> UInt32?
    ) -> [UInt32] {
        items(of: value).compactMap { item in
            if let number = item.integer, let id = UInt32(exactly: number) { return id }
            guard let name = item.string else {
                problem(item.position, path, "expected a \(kind)'s name or number; got \(TOMLText.named(item))")
                return nil
            }
            if let id = find(name) { return id }
            warn(
                item.position, path,
                "there is no \(kind) \(TOMLText.quoted(name)): the rule matches no caller")
            return nil
        }
    }

    /// Checks combinations of keys.
    private mutating func check(_ rule: PolicyRule, _ position: TOMLPosition, _ path: String) {
        let isAboutClients =
            rule.uids != nil || rule.gids != nil || rule.origins != nil || rule.users != nil || rule.units != nil
        if rule.plugins != nil, isAboutClients {
            problem(position, path, "plugin cannot be combined with another condition")
        }
        if rule.verbs.contains(.reach), rule.verbs.count > 1 {
            problem(
                position, path, "reach cannot be combined with other verbs in a rule: its names are origins")
        }
        if rule.verbs.contains(.close), rule.names != nil, rule.verbs.count == 1 {
            problem(position, path, "a rule about close cannot have names")
        }
        // A prefix that ends inside a host name also covers other hosts; the same applies to a user's number.
        let isAboutOrigins = rule.verbs.contains(.origin) || rule.verbs.contains(.store)
        for name in rule.names ?? [] where isAboutOrigins && rule.effect == .allow {
            guard name.text.last == "*", name.text.count > 1, let before = name.text.dropLast().last,
                !"/:".contains(before)
            else { continue }
            problem(
                position, "\(path).names",
                "\(TOMLText.quoted(name.text)) also covers other names with this prefix: put / or : before the *"
            )
        }
    }

    // MARK: Values

    private func items(of value: TOMLValue) -> [TOMLValue] { value.array ?? [value] }

    /// Parses one string or several.
    private mutating func texts(_ value: TOMLValue, _ path: String) -> [(text: String, position: TOMLPosition)] {
        let items = items(of: value)
        if items.isEmpty { warn(value.position, path, "an empty list matches nothing") }
        return items.compactMap { item in
            if let text = item.string, !text.isEmpty { return (text, item.position) }
            problem(item.position, path, "expected a string, or several; got \(TOMLText.named(item))")
            return nil
        }
    }

    private mutating func problem(_ position: TOMLPosition, _ key: String, _ reason: String) {
        problems.append(ConfigurationProblem(source: file, position: position, key: key, reason: reason))
    }

    private mutating func warn(_ position: TOMLPosition, _ key: String, _ reason: String) {
        warnings.append(ConfigurationProblem(source: file, position: position, key: key, reason: reason))
    }
}
