// Patterns for event names.

/** Whether a pattern matches a name. A pattern is a name, or the beginning of a name followed by `*`. */
export function matches(pattern, name) {
    return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
