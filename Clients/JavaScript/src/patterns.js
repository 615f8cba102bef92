// Patterns of names of events.

/** Whether a pattern, a name or the beginning of one with `*` behind, matches a name. */
export function matches(pattern, name) {
    return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
