/// Asks plugins for their schemas, a plugin in each step: to derive them takes one plugin some milliseconds, once.
final class SchemaQuestions: StepJob {
    let session: Session? = nil
    private var rest: ArraySlice<PluginInstance>
    private var missing: Int
    private var done: (() -> Void)?

    init(_ plugins: [PluginInstance]) {
        rest = plugins[...]
        missing = plugins.count
    }

    /// Calls `done` once all of them have answered, or failed to: now, where they have.
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
