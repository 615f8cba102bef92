import BridgeJSON
import Logging

// Reports on turns of the loop that took too long, in the log and in bridge.status.
extension TaskRuntime {
    /// Notes that the current step is work for a plugin.
    public func noteStep(of plugin: PluginInstance) { turns.note(.plugin, plugin.number) }

    /// Notes a turn of the loop of more than 5 ms, at its end.
    ///
    /// - Parameter cpuTime: The CPU time of the loop thread in the turn.
    public func noteSlowTurn(cpuTime: Duration) {
        guard turns.noteSlowTurn(cpuTime) else { return }
        let step = lastStep
        guard let count = turns.countLongTurn(step, cpuTime, at: clock.now) else { return }
        var metadata: Logger.Metadata = [:]
        if let of = step.of { metadata[step.name == RuntimeStep.Kind.plugin.name ? "plugin" : "task"] = .string(of) }
        if let uid = step.uid { metadata["uid"] = .stringConvertible(uid) }
        log.warning(
            """
            a turn of the loop took \(cpuTime.wholeMilliseconds) ms of CPU time, and all clients waited; the last \
            step in it: \(step.name); turns of more than \(LongTurns.limit.wholeMilliseconds) ms since the last \
            report: \(count)
            """, metadata: metadata)
    }

    /// The last step of the turn that ends.
    private var lastStep: LongTurns.Step {
        let step = turns.step
        guard turns.isStepOfThisTurn else { return .other }
        switch step.kind {
        case .deadlines: return LongTurns.Step(name: step.kind.name)
        case .plugin:
            return LongTurns.Step(name: step.kind.name, of: directory.plugin(numbered: step.number)?.name)
        case .call: return LongTurns.Step(name: step.kind.name, of: tasks.name(of: step.number), uid: step.uid)
        case .refusal, .message, .line, .connection, .job: return LongTurns.Step(name: step.kind.name, uid: step.uid)
        }
    }

    /// Returns the long turns as `bridge.status` shows them.
    func reportLongTurns() -> JSON {
        let long = turns.long
        let steps = long.steps.sorted { ($0.value.turns, $0.value.longest) > ($1.value.turns, $1.value.longest) }
        return [
            "count": .number(JSONNumber(long.count)), "longestUs": Self.microseconds(long.longest),
            "steps": .array(
                steps.map { step, count in
                    [
                        "step": .string(step.name), "of": step.of.map(JSON.string) ?? .null,
                        "uid": step.uid.map { .number(JSONNumber(UInt64($0))) } ?? .null,
                        "count": .number(JSONNumber(count.turns)), "longestUs": Self.microseconds(count.longest),
                    ]
                }),
        ]
    }

    private static func microseconds(_ duration: Duration) -> JSON {
        .number(JSONNumber(duration.wholeNanoseconds / 1000))
    }
}
