// HTTPRules: the rules of HTTP as functions without I/O and without a clock.
//
// Origins have a module of their own, because the daemon's policy compares them too. Who imports the rules has them, as
// TaskKit has what it re-exports: there is no public spelling of `@_exported`.
@_exported import WebOrigins
