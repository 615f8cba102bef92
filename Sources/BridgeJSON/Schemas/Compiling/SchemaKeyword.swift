/// The keywords of JSON Schema 2020-12 that restrict a value, name a schema or contain one. All others are annotations
/// and refuse no value: this includes `format` and `content…`, as the specification allows.
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

    /// Keywords whose schemas are targets of references, and apply to no value by themselves.
    case definitions
    case definitionsByName = "$defs"
    case contentSchema

    /// Keywords that restricted values in earlier versions, and would be ignored now.
    case dependencies, additionalItems
    case recursiveReference = "$recursiveRef"
    case recursiveAnchor = "$recursiveAnchor"

    /// The replacement for a keyword of an earlier version; nil for a keyword of 2020-12.
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
