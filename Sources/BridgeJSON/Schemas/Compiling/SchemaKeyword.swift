/// The keywords of JSON Schema 2020-12 that ask something of a value, name a schema or contain one. All others say
/// something about values, and refuse none: `format` and `content…` among them, as the specification has it.
enum SchemaKeyword: String {
    case type
    case `enum`
    case const
    case minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf
    case minLength, maxLength, pattern
    case minItems, maxItems, uniqueItems, prefixItems, items, contains, minContains, maxContains
    case minProperties, maxProperties, required, properties, patternProperties, additionalProperties, propertyNames
    case dependentRequired, dependentSchemas
    case allOf, anyOf, oneOf, not
    case `if`
    case then
    case `else`
    case unevaluatedItems, unevaluatedProperties

    case reference = "$ref"
    case dynamicReference = "$dynamicRef"
    case anchor = "$anchor"
    case dynamicAnchor = "$dynamicAnchor"
    case identifier = "$id"
    case dialect = "$schema"

    /// These contain schemas that others refer to, and apply to no value by themselves.
    case definitions
    case definitionsByName = "$defs"
    case contentSchema

    /// These asked something of values in earlier versions, and would be passed over now.
    case dependencies, additionalItems
    case recursiveReference = "$recursiveRef"
    case recursiveAnchor = "$recursiveAnchor"

    /// What to write in place of a keyword of an earlier version.
    var successor: String? {
        switch self {
        case .dependencies: "dependentRequired and dependentSchemas"
        case .additionalItems: "prefixItems and items"
        case .recursiveReference: "$dynamicRef"
        case .recursiveAnchor: "$dynamicAnchor"
        default: nil
        }
    }
}
