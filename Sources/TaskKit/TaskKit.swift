// TaskKit: what a plugin author imports. Typed tasks over the C interface of CTaskPlugin.
