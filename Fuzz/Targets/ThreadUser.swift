import CThreadUser
import Glibc

/// The user that the kernel assigns to a thread.
enum ThreadUser {
    /// Whether a thread of this process can run as another user.
    static var isSettable: Bool { geteuid() == 0 }

    /// Runs a function on this thread as another user. The other threads keep theirs; a thread that `body` starts has
    /// that user.
    static func run<Value>(as user: uid_t, _ body: () -> Value) -> Value {
        cthread_set_effective_user(user)
        defer {
            // The code after this needs the original user again.
            guard cthread_set_effective_user(0) == 0 else { fatalError("the thread's user cannot be set back") }
        }
        return body()
    }
}
