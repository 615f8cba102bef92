/// The order of a phase's workers: each runs after the workers that it names, otherwise in the order of registration.
enum LaunchOrder {
    /// Sorts workers.
    ///
    /// - Parameters:
    ///   - workers: The workers of one phase, in the order of registration.
    ///   - done: The names of the workers of earlier phases.
    /// - Throws: ``LaunchFailure`` if a name is unknown or if workers wait for each other in a cycle.
    static func sort<Phase>(
        _ workers: [LaunchWorker<Phase>], done: Set<String>
    ) throws(LaunchFailure) -> [LaunchWorker<Phase>] {
        let known = done.union(workers.map(\.name))
        for worker in workers {
            for name in worker.after where !known.contains(name) {
                throw LaunchFailure(
                    worker: worker.name,
                    description:
                        "the launch worker \(worker.name) comes after \(name), which is no launch worker of its phase "
                        + "or of an earlier one"
                )
            }
        }
        var placed = done
        var ordered: [LaunchWorker<Phase>] = []
        var rest = workers
        while !rest.isEmpty {
            guard let next = rest.firstIndex(where: { placed.isSuperset(of: $0.after) }) else {
                let names = rest.map(\.name).joined(separator: ", ")
                throw LaunchFailure(
                    worker: nil, description: "these launch workers wait for each other in a cycle: \(names)")
            }
            let worker = rest.remove(at: next)
            placed.insert(worker.name)
            ordered.append(worker)
        }
        return ordered
    }
}
