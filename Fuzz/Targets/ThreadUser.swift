import CThreadUser
import Glibc

/// The user whom the kernel takes a thread for.
enum ThreadUser {
    /// Whether a thread of this process can be another user's.
    static var isSettable: Bool { geteuid() == 0 }

    /// Runs something on this thread as another user. The other threads stay as they are; one that `body` starts is
    /// that user's.
    static func run<Value>(as user: uid_t, _ body: () -> Value) -> Value {
        cthread_set_effective_user(user)
        defer {
            // All that comes after needs the user back.
            guard cthread_set_effective_user(0) == 0 else { fatalError("the thread's user cannot be set back") }
        }
        return body()
    }
}
