/// A task with typed options and a typed result: what most tasks are.
///
///     struct Greet: BridgeTask {
///         static let name = "greet"
///         static let summary = "Greets somebody by name."
///         struct Options: Codable, Sendable { var who: String }
///         struct Result: Codable, Sendable { var greeting: String }
///
///         func run(_ options: Options, _ call: Call) async throws -> Result {
///             Result(greeting: "Hello, \(options.who)")
///         }
///     }
///
/// One value of the type serves every call of the task; calls overlap wherever one of them awaits.
public protocol BridgeTask: Sendable {
    /// What the caller sends. Options that do not fit are answered `options.invalid`, with the path, what was
    /// expected and what came; `run` is not called then. Keys that the type does not know are ignored. The default: an
    /// object, of which nothing is read.
    associatedtype Options: Decodable & Sendable = Empty

    /// What the caller gets. The default: `{}`.
    associatedtype Result: Codable & Sendable = Empty

    /// What the caller gets on the way, where the task sends any: described to callers, and what `Call.progress` is
    /// given. The default: the task sends none.
    associatedtype Progress: Codable & Sendable = Never

    /// The name that callers use: letters, digits, `-` and `_`, in parts joined by dots, at most 128 bytes, beginning
    /// with a letter. `bridge.` and `rpc.` are the daemon's.
    static var name: String { get }

    /// One sentence for `bridge.tasks` and `trestle tasks`.
    static var summary: String { get }

    /// Permission, deadline, concurrency, visibility. The default: open to whom the policy lets, the daemon's
    /// deadline, any number of calls in parallel.
    static var settings: TaskSettings { get }

    /// The JSON Schema of the options. The default, nil: derived from `Options`.
    static var optionsSchema: JSON? { get }

    /// The JSON Schema of the result. The default, nil: derived from `Result`.
    static var resultSchema: JSON? { get }

    /// The JSON Schema of the progress. The default, nil: derived from `Progress`.
    static var progressSchema: JSON? { get }

    /// Does the work of one call.
    ///
    /// - Runs on the daemon's loop thread, as does whatever it awaits that has no executor of its own; until its
    ///   first suspension it runs before the next call begins. It must not block: see `Call.blocking` and
    ///   `BlockingThreads`.
    /// - What it returns or throws is the one callback of the call. A `BridgeError` goes to the caller as it is, a
    ///   `JSONMismatch` as `options.invalid`, a `CancellationError` as `call.cancelled`, any other error as `internal`
    ///   with its description.
    /// - When the caller cancels, leaves or runs out of time, the Swift task that this runs in is cancelled. What is
    ///   returned after that goes nowhere.
    func run(_ options: Options, _ call: Call) async throws -> Result
}

/// A task that has its answer without awaiting anything: a look into memory, a sum. `run` is written without `async`,
/// and a call then costs no switch to a Swift task and back.
///
///     struct Sign: ImmediateTask {
///         ...
///         func run(_ options: Options, _ call: Call) throws -> Result { Result(sign: options.number.signum()) }
///     }
public protocol ImmediateTask: BridgeTask {
    /// Does the work of one call, under the rules of `BridgeTask.run`: on the daemon's loop thread, without blocking.
    /// There is no Swift task around it that could be cancelled.
    func run(_ options: Options, _ call: Call) throws -> Result
}

extension BridgeTask {
    /// No settings of its own.
    public static var settings: TaskSettings { TaskSettings() }
    /// Derived from `Options`.
    public static var optionsSchema: JSON? { nil }
    /// Derived from `Result`.
    public static var resultSchema: JSON? { nil }
    /// Derived from `Progress`.
    public static var progressSchema: JSON? { nil }
}

/// What the daemon should know about a task besides its name.
public struct TaskSettings: Sendable, Hashable {
    /// The name under which the policy's rules speak of the task; nil: the task's own name.
    public var permission: String?

    /// Whether members of the group `trestle` may call the task where no rule says anything: for what every page needs,
    /// and nothing that is about other users.
    public var isPublic: Bool

    /// Options that name what not every caller may name, each with the verb that the policy has to allow the caller for
    /// the name in the option. The daemon asks before the task is called, so that the task may do as the option says.
    public var optionPermissions: [String: OptionPermission]

    /// The deadline of a call that names none.
    public var timeout: Timeout

    /// How many calls of the task run in parallel, at least 1; the others wait their turn. Nil: no bound of its own.
    public var concurrency: Int?

    /// How long the options of a call may be, in bytes of JSON, at least 1. Nil: 65,536, what is decoded on the
    /// daemon's loop without others waiting for it. A task that hands its options on as text, or decodes them on a
    /// thread of its own, may say more, up to ``anyOptionBytes``. The daemon refuses longer options before anything
    /// reads them.
    public var optionBytes: Int?

    static let usualOptionBytes = 65_536

    /// Options as long as a message may be, for ``optionBytes``.
    public static let anyOptionBytes = Int(Int32.max)

    /// The task's options and results are secret: the daemon shows them nowhere and logs none of them.
    public var isPrivate: Bool

    /// See the properties.
    public init(
        permission: String? = nil, isPublic: Bool = false, optionPermissions: [String: OptionPermission] = [:],
        timeout: Timeout = .standard, concurrency: Int? = nil, isPrivate: Bool = false, optionBytes: Int? = nil
    ) {
        self.permission = permission
        self.isPublic = isPublic
        self.optionPermissions = optionPermissions
        self.timeout = timeout
        self.concurrency = concurrency
        self.isPrivate = isPrivate
        self.optionBytes = optionBytes
    }
}

/// What a caller has to be allowed for naming something in an option. An option that is absent, or `null`, names
/// nothing.
public enum OptionPermission: String, Sendable, Hashable, CaseIterable {
    /// Using what is stored for another user or origin: the option is a namespace, a user id, a colon and an origin,
    /// such as `1000:https://notes.example`. A caller may always name its own.
    case store
    /// Having a request sent to an origin of the web: the option is an origin, such as `https://api.example`. Where the
    /// caller needs no right for its own site, its task leaves the option out.
    case reach
}

/// Options, a result or data without members: `{}`.
public struct Empty: Codable, Sendable, Hashable {
    /// The one value that there is.
    public init() {}
}
