// HTTPRules: the rules of HTTP as functions without I/O and without a clock.
//
// Origins are in a separate module, because the daemon's policy compares them too. This module re-exports them for its
// importers, as TaskKit does with its modules: Swift has no public spelling of `@_exported`.
@_exported import WebOrigins
