internal import CWebKitGTK

/// The arguments that a signal passes to its handler; valid while the handler runs.
public struct SignalArguments {
    private let values: UnsafePointer<GValue>
    private let count: Int

    init(values: UnsafePointer<GValue>, count: Int) {
        self.values = values
        self.count = count
    }

    private func value(_ index: Int) -> UnsafePointer<GValue> {
        precondition(index < count, "the signal has \(count) arguments")
        return values + index
    }

    /// Returns an object; 0 is the object that emits the signal.
    ///
    /// - Parameter index: Which argument.
    public func object(_ index: Int) -> UnsafeMutableRawPointer? { g_value_get_object(value(index)) }

    /// Returns a boxed value, which the signal still owns.
    ///
    /// - Parameter index: Which argument.
    public func boxed(_ index: Int) -> UnsafeMutableRawPointer? { g_value_get_boxed(value(index)) }

    /// Returns the number of an enumeration value.
    ///
    /// - Parameter index: Which argument.
    public func enumeration(_ index: Int) -> UInt32 { UInt32(bitPattern: g_value_get_enum(value(index))) }

    /// Returns a pointer to a value that is not an object.
    ///
    /// - Parameter index: Which argument.
    public func pointer(_ index: Int) -> UnsafeMutableRawPointer? { g_value_get_pointer(value(index)) }

    /// Returns a signed integer.
    ///
    /// - Parameter index: Which argument.
    public func integer(_ index: Int) -> Int { Int(g_value_get_int(value(index))) }

    /// Returns an unsigned integer.
    ///
    /// - Parameter index: Which argument.
    public func number(_ index: Int) -> UInt32 { g_value_get_uint(value(index)) }

    /// Returns a string; empty for null.
    ///
    /// - Parameter index: Which argument.
    public func string(_ index: Int) -> String { g_value_get_string(value(index)).map { String(cString: $0) } ?? "" }

    /// Returns a set of flags.
    ///
    /// - Parameter index: Which argument.
    public func flags(_ index: Int) -> UInt32 { g_value_get_flags(value(index)) }
}

extension GObjectBox {
    /// Calls `handler` at each emission of a signal, until the object is finalized. The handler must retain neither
    /// this reference nor its owner.
    ///
    /// - Parameters:
    ///   - signal: The name, with its detail.
    ///   - handler: The handler. Its result is the answer to signals that request a Boolean.
    public func connect(_ signal: String, _ handler: @escaping @MainActor (SignalArguments) -> Bool) {
        attach(signal) { .truth(handler($0)) }
    }

    /// Like ``connect(_:_:)``, for signals that request an object.
    ///
    /// - Parameters:
    ///   - signal: The name, with its detail.
    ///   - handler: The handler; it returns `nil` for no object.
    public func connectObject(_ signal: String, _ handler: @escaping @MainActor (SignalArguments) -> GObjectBox?) {
        attach(signal) { .object(handler($0)) }
    }

    private func attach(_ signal: String, _ handler: @escaping @MainActor (SignalArguments) -> SignalHandler.Answer) {
        // Without the detail: the name of a message handler or a property.
        let name = String(signal.prefix { $0 != ":" })
        let box = Unmanaged.passRetained(SignalHandler(name, handler)).toOpaque()
        let closure = g_closure_new_simple(UInt32(MemoryLayout<GClosure>.size), box)
        g_closure_set_marshal(closure, SignalHandler.marshal)
        g_closure_add_finalize_notifier(closure, box) { box, _ in LoopBody.release(box) }
        g_signal_connect_closure(raw, signal, closure, 0)
    }

    /// Like ``connect(_:_:)``, for signals that request no result.
    ///
    /// - Parameters:
    ///   - signal: The name, with its detail.
    ///   - handler: The handler.
    public func observe(_ signal: String, _ handler: @escaping @MainActor (SignalArguments) -> Void) {
        connect(signal) {
            handler($0)
            return false
        }
    }
}

/// A handler that a GObject closure retains.
@MainActor
private final class SignalHandler {
    /// The answer to a signal.
    enum Answer {
        case truth(Bool)
        case object(GObjectBox?)
    }

    /// The signal's name.
    private let name: String
    private let handler: @MainActor (SignalArguments) -> Answer

    init(_ name: String, _ handler: @escaping @MainActor (SignalArguments) -> Answer) {
        self.name = name
        self.handler = handler
    }

    private func call(_ arguments: SignalArguments, _ result: UnsafeMutablePointer<GValue>?) {
        switch TurnWatch.run(name, { handler(arguments) }) {
        case .truth(let truth):
            guard let result, g_type_check_value_holds(result, trestle_boolean_type()) != 0 else { return }
            g_value_set_boolean(result, truth ? 1 : 0)
        case .object(let object):
            guard let result, g_type_check_value_holds(result, trestle_object_type()) != 0 else { return }
            g_value_set_object(result, object?.raw)
        }
    }

    nonisolated static let marshal: GClosureMarshal = { closure, result, count, values, _, _ in
        guard let box = closure?.pointee.data, let values else { return }
        // Signals of these objects are emitted on the main thread; the values are valid until this returns.
        let unmanaged = Unmanaged<SignalHandler>.fromOpaque(box)
        nonisolated(unsafe) let arguments = SignalArguments(values: values, count: Int(count))
        nonisolated(unsafe) let value = result
        MainActor.assumeIsolated { unmanaged.takeUnretainedValue().call(arguments, value) }
    }
}
