import BridgeJSON

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
        // `try?`: of what a manifest says, a broken schema was refused.
        schema = (try? description.schemas.optionsCheck()) ?? nil
        rights = description.optionVerbs.sorted { $0.key < $1.key }.map { option, verb in
            OptionRight(option: MemberStrings(option), verb: verb)
        }
        if schema == nil, rights.isEmpty { return nil }
    }
}
