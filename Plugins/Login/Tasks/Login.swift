// Login: sets the user of a session. It has a local store of accounts (Accounts/), passwords hashed by libsodium
// (Hashing/), random tokens for logging in again, a lock-out against guessing, and the tasks (Tasks/).
//
// `LockOut`, `Token`, `PasswordHasher` and `AccountStore` do not depend on threads or calls. `LoginService` combines
// them on two threads. The tasks are thin.
public import TaskKit

extension Plugin {
    /// Creates the plugin of `login`, `logout`, `login.status` and `login.users.…`.
    public static func login() -> Plugin {
        login(LoginService(), SessionTokens())
    }

    static func login(_ service: LoginService, _ tokens: SessionTokens) -> Plugin {
        Plugin("login", version: "1.0.0") {
            LoginTask(service: service, tokens: tokens)
            LogoutTask(service: service, tokens: tokens)
            LoginStatusTask(tokens: tokens)
            AddUserTask(service: service)
            ChangePasswordTask(service: service, tokens: tokens)
            RemoveUserTask(service: service, tokens: tokens)
            ListUsersTask(service: service)
        }
        .configuration(
            PluginConfiguration(LoginConfiguration()), describing: LoginConfiguration.settings, reloadable: true,
            check: { try LoginService.check($0) }, onChange: { service.configure($0) }
        )
        .launchWorker("login.open", phase: .beforeListening) { context in
            try await service.open(directory: context.stateDirectory, metrics: LoginMetrics(context)) {
                context.log.warning($0)
            }
        }
        .onSessionEnd { tokens.forget($0.session) }
        .handover(KeptLogin.self) {
            tokens.kept(of: $0)
        } restore: {
            tokens.restore($0)
        }
        .onStop {
            // Acknowledged changes are on the disk already: a failure to close the file loses nothing.
            try? await service.database.close()
        }
        .event(
            SessionIdentity.event, "A session logged in, or out: {session, user}, user being null then.", isPublic: true
        )
    }
}
