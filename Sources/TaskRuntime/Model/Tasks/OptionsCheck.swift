import BridgeJSON

/// An option that names what not every caller may name, and what the caller has to be allowed for it.
struct OptionRight {
    let option: MemberStrings
    let verb: PolicyVerb
}

/// What is asked of a call's options before its task gets them.
///
/// A class, so that a task that asks nothing costs its calls one comparison.
final class OptionsCheck {
    /// What they must look like; nil: the task sees to that itself.
    let schema: SchemaCheck?
    /// What their options may name.
    let rights: [OptionRight]

    /// Nil where nothing is asked.
    init?(_ description: TaskDescription) {
        if description.optionPermissions.isEmpty, description.schemas.options == nil { return nil }
        // `try?`: of what a manifest says, a broken schema was refused.
        schema = (try? description.schemas.optionsCheck()) ?? nil
        rights = description.optionPermissions.sorted { $0.key < $1.key }.map { option, verb in
            OptionRight(option: MemberStrings(option), verb: verb)
        }
        if schema == nil, rights.isEmpty { return nil }
    }
}
