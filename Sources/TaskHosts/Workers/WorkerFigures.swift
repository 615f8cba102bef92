import BridgeMessage
import TaskRuntime

/// The figures that the processes of a plugin tell of, put together: a counter is the sum over all processes that there
/// were, a gauge the sum over those that there are. Loop thread only.
struct WorkerFigures {
    private struct Figure {
        let kind: FigureDeclaration.Kind
        /// What processes counted that are gone, or that began anew.
        var past = 0.0
        /// What each process told last.
        var told: [ObjectIdentifier: Double] = [:]

        var value: Double { told.values.reduce(past, +) }
    }

    /// By their numbers.
    private var figures: [Int: Figure] = [:]

    /// A process tells of a figure.
    ///
    /// - Throws: ``FigureRefusal`` where it is none of the plugin's.
    mutating func take(
        _ declaration: FigureDeclaration, _ value: Double, from link: WorkerLink, into all: PluginMetrics
    ) throws(FigureRefusal) {
        let number = try all.declare(declaration)
        var figure = figures[number] ?? Figure(kind: declaration.kind)
        let before = figure.told.updateValue(value, forKey: ObjectIdentifier(link)) ?? 0
        // It counts from 0 again.
        if figure.kind == .counter, value < before { figure.past += before }
        figures[number] = figure
        all.set(number, figure.value)
    }

    /// The process is not there any more.
    mutating func forget(_ link: WorkerLink, in all: PluginMetrics?) {
        for number in figures.keys {
            guard let last = figures[number]?.told.removeValue(forKey: ObjectIdentifier(link)) else { continue }
            if figures[number]?.kind == .counter { figures[number]?.past += last }
            if let figure = figures[number] { all?.set(number, figure.value) }
        }
    }
}
