// The declaration of a setting, from which everything about it comes.
import TOMLDocument

/// When a changed setting holds.
enum SettingEffect: Sendable, Hashable {
    /// At a reload, and so without a restart.
    case reload
    /// When the daemon is started again.
    case restart
}

/// One setting of `Target`, declared once: reading, the messages about it, its default as TOML, what a reload makes of
/// it, and what the sample, the reference and the schema say about it.
struct Setting<Target>: Sendable {
    /// The key with its tables, as in `limits.message_bytes`.
    let key: String
    /// What its values look like.
    let shape: SettingShape
    /// When a change holds.
    let effect: SettingEffect
    /// What it is for, in one or more sentences.
    let documentation: String
    /// What the default is, where it depends on who runs the daemon and from where.
    let defaultNote: String?
    /// The TOML that the sample shows in place of a default that users do not write.
    let example: String?
    /// Reads the value into the target.
    let read: @Sendable (TOMLValue, inout Target) throws(SettingMismatches) -> Void
    /// The target's value as TOML. Asked of a target that has not been configured, this is the default. Two targets of
    /// one text have one value.
    let write: @Sendable (Target) -> String
    /// Takes the value over from one target into another.
    let copy: @Sendable (Target, inout Target) -> Void

    init<Value>(
        _ key: String, _ type: SettingType<Value>, _ path: any WritableKeyPath<Target, Value> & Sendable,
        _ effect: SettingEffect, _ documentation: String, defaultNote: String? = nil, example: String? = nil
    ) {
        self.key = key
        self.shape = type.shape
        self.effect = effect
        self.documentation = documentation
        self.defaultNote = defaultNote
        self.example = example
        read = { value, target throws(SettingMismatches) in target[keyPath: path] = try type.read(value) }
        write = { target in type.write(target[keyPath: path]) }
        copy = { source, target in target[keyPath: path] = source[keyPath: path] }
    }

    /// The tables that the key stands in: `limits` for `limits.message_bytes`, empty for a top-level key.
    var table: String {
        key.lastIndex(of: ".").map { String(key[..<$0]) } ?? ""
    }

    /// The last part of the key.
    var name: String {
        key.lastIndex(of: ".").map { String(key[key.index(after: $0)...]) } ?? key
    }
}
