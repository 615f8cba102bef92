import WorkerProtocol

/// The calls that the plugin works on, by the daemon's numbers. Asked with every call and every answer, so each has a
/// place in an array rather than in a hash table. Loop thread only.
struct OpenCalls {
    /// By places; 0: none, which no call has for its number.
    private var numbers: [UInt64] = []

    mutating func insert(_ number: UInt64) {
        let place = WorkerCallNumber(number).place
        // Places are taken in order, so this grows by one at a time but for a number that no daemon of ours would give.
        while numbers.count <= place { numbers.append(0) }
        numbers[place] = number
    }

    func contains(_ number: UInt64) -> Bool {
        let place = WorkerCallNumber(number).place
        return number != 0 && place < numbers.count && numbers[place] == number
    }

    mutating func remove(_ number: UInt64) {
        if contains(number) { numbers[WorkerCallNumber(number).place] = 0 }
    }
}
