// The declaration of a setting, from which everything else about it is derived.
import TOMLDocument

/// The time when a changed setting takes effect.
enum SettingEffect: Sendable, Hashable {
    /// At a reload, without a restart.
    case reload
    /// At the next start of the daemon.
    case restart
}

/// One setting of `Target`, declared once. The declaration determines reading, messages, the default as TOML, the
/// effect of a reload, and the entries in the sample, the reference and the schema.
struct Setting<Target>: Sendable {
    /// The key with its tables, such as `limits.message_bytes`.
    let key: String
    /// The form of its values.
    let shape: SettingShape
    /// The time when a change takes effect.
    let effect: SettingEffect
    /// The description, one or more sentences.
    let documentation: String
    /// A description of the default, if it depends on the user and directory of the daemon; otherwise `nil`.
    let defaultNote: String?
    /// The TOML value that the sample shows instead of the default, if users do not write the default; otherwise `nil`.
    let example: String?
    /// Reads the value into the target.
    let read: @Sendable (TOMLValue, inout Target) throws(SettingMismatches) -> Void
    /// Returns the target's value as TOML. For an unconfigured target, this is the default. Two targets with the same
    /// text have the same value.
    let write: @Sendable (Target) -> String
    /// Copies the value from one target to another.
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

    /// The tables of the key: `limits` for `limits.message_bytes`, empty for a top-level key.
    var table: String {
        key.lastIndex(of: ".").map { String(key[..<$0]) } ?? ""
    }

    /// The last part of the key.
    var name: String {
        key.lastIndex(of: ".").map { String(key[key.index(after: $0)...]) } ?? key
    }
}
