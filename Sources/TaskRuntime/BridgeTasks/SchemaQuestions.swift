/// A job that asks plugins for their schemas, one plugin in each step. A plugin needs some milliseconds, once, to
/// derive them.
final class SchemaQuestions: StepJob {
    let session: Session? = nil
    private var rest: ArraySlice<PluginInstance>
    private var missing: Int
    private var done: (() -> Void)?

    init(_ plugins: [PluginInstance]) {
        rest = plugins[...]
        missing = plugins.count
    }

    /// Calls `done` once all plugins have answered or failed to; immediately if they have already.
    func whenAnswered(_ done: @escaping () -> Void) {
        if missing == 0 { done() } else { self.done = done }
    }

    func step(until budget: StepBudget) -> StepOutcome {
        while let plugin = rest.popFirst() {
            plugin.describe { [self] _ in
                missing -= 1
                if missing == 0 { done.take()?() }
            }
            if budget.isSpent { break }
        }
        return StepOutcome(isDone: rest.isEmpty)
    }
}
