import BridgeJSON

/// An option that names a restricted thing, and the verb that the policy must allow the caller for it.
struct OptionRight {
    let option: MemberStrings
    let verb: PolicyVerb
}

/// The requirements on a call's options, checked before its task receives them.
///
/// A class, so that a task without requirements costs its calls one comparison.
final class OptionsCheck {
    /// The schema of the options; `nil` if the task checks them itself.
    let schema: SchemaCheck?
    /// The options that require a right.
    let rights: [OptionRight]

    /// `nil` if there are no requirements.
    init?(_ description: TaskDescription) {
        if description.optionPermissions.isEmpty, description.schemas.options == nil { return nil }
        // `try?`: a broken schema in a manifest was refused before.
        schema = (try? description.schemas.optionsCheck()) ?? nil
        rights = description.optionPermissions.sorted { $0.key < $1.key }.map { option, verb in
            OptionRight(option: MemberStrings(option), verb: verb)
        }
        if schema == nil, rights.isEmpty { return nil }
    }
}
