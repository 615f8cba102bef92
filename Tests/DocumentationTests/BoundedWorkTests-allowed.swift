extension BoundedWorkTests {
    /// The number of such lines by file and rule, and the reason why their work is bounded.
    static let allowed: [String: (count: Int, reason: String)] = [
        "Sources/BridgeServer/BridgeServer.swift walk": (
            4, "an operator reloads limits; the server ends; a flag of each connection, every few seconds"
        ),
        "Sources/BridgeServer/ConnectionHandover.swift sort": (1, "once, when the daemon ends"),
        "Sources/BridgeServer/BridgeServer.swift search": (1, "sockets, which the configuration names"),
        "Sources/BridgeServer/ConnectionHandover.swift walk": (3, "once, when the daemon ends"),
        "Sources/TaskRuntime/BridgeTasks/BridgeTasks.swift value": (
            1, "options of at most optionBytes, which the router has asked"
        ),
        "Sources/TaskRuntime/BridgeTasks/CallTasks.swift value": (1, "an id of at most 128 bytes"),
        "Sources/TaskRuntime/Calls/DeadlineHeap.swift removal": (
            1, "calls in flight, of which quotas allow 16,384 a user; behind the ends of as many"
        ),
        "Sources/TaskRuntime/BridgeTasks/DescribingTasks.swift sort": (
            1, "the verbs of one task, which a manifest names"
        ),
        "Sources/TaskRuntime/Tasks/OpenRPCDocument.swift value": (
            1, "one description of at most 64 KiB, a step of a job"
        ),
        "Sources/TaskRuntime/BridgeTasks/OptionMembers.swift value": (1, "at most 64 KiB, asked above it"),
        "Sources/TaskRuntime/Plugins/RenamedName.swift walk": (1, "members of a manifest, once for each plugin"),
        "Sources/TaskRuntime/Model/Tasks/TaskParameters.swift walk": (
            2, "one schema of at most 64 KiB; a registration's is read in steps"
        ),
        "Sources/TaskRuntime/BridgeTasks/StatusTasks.swift sort": (
            1, "the first of one session, maximumListed at most"
        ),
        "Sources/TaskRuntime/Calls/CallEnding.swift removal": (
            1, "calls of one plugin for one call; a process may have 1,024"
        ),
        "Sources/TaskRuntime/Model/Events/EventListeners.swift removal": (
            1, "the listeners of one event, at most eight"
        ),
        "Sources/TaskRuntime/Model/Events/EventListeners.swift value": (1, "once for each id, when the daemon ends"),
        "Sources/TaskRuntime/Model/Events/EventListeners.swift walk": (
            1, "the listeners of one session, of which there is a quota"
        ),
        "Sources/TaskRuntime/Events/FanOutQueue.swift gap": (1, "at most 64 events"),
        "Sources/TaskRuntime/Events/FanOutQueue.swift search": (2, "at most 64 events"),
        "Sources/TaskRuntime/Events/RetainedEvents.swift sort": (1, "once, when the daemon ends"),
        "Sources/TaskRuntime/Events/RetainedEvents.swift value": (1, "once, when the daemon ends"),
        "Sources/TaskRuntime/Events/RetainedEvents.swift walk": (
            3, "at most 1,024 names: for one who subscribes, when a plugin has stopped, when the daemon ends"
        ),
        "Sources/TaskRuntime/Events/RetainedReplay.swift sort": (1, "at most 1,024 events"),
        "Sources/TaskRuntime/Events/Subscriptions.swift walk": (
            1, "the patterns of one session, of which there is a quota"
        ),
        "Sources/TaskRuntime/Calls/InterceptorDecision.swift value": (2, "at most 64 KiB, asked beside it"),
        "Sources/LaunchWorkers/LaunchRegistry.swift removal": (2, "launch workers, which manifests name"),
        "Sources/LaunchWorkers/LaunchRegistry.swift sort": (2, "launch workers, which manifests name"),
        "Sources/TaskRuntime/Monitoring/TrafficMonitor.swift removal": (
            1, "sessions that monitor, which are administrators"
        ),
        "Sources/TaskRuntime/Monitoring/TrafficMonitor.swift value": (1, "an id of at most 128 bytes"),
        "Sources/TaskRuntime/Monitoring/TrafficMask.swift value": (1, "a name in what is shown, which is cut before"),
        "Sources/TaskRuntime/Plugins/ManifestReading.swift value": (2, "once for each load of a plugin"),
        "Sources/TaskRuntime/Plugins/PluginDirectory.swift calls": (
            1, "an operator removes a plugin whose calls have been ended before, in steps"
        ),
        "Sources/TaskRuntime/Plugins/IdleWaits.swift removal": (1, "plugins that an operator replaces or unloads"),
        "Sources/TaskRuntime/Plugins/IdleWaits.swift search": (1, "plugins that an operator replaces or unloads"),
        "Sources/TaskRuntime/Plugins/PluginDirectory.swift removal": (3, "plugins, of which operators load few"),
        "Sources/TaskRuntime/Plugins/UnfinishedWork.swift walk": (
            2, "at most 65,536 calls, of a plugin that goes, or once in a minute of one that has lost them"
        ),
        "Sources/TaskRuntime/Plugins/PluginSchemas.swift value": (1, "once for each start of a plugin"),
        "Sources/TaskRuntime/Plugins/PluginInstance.swift value": (1, "once for each step of a plugin's life"),
        "Sources/TaskRuntime/Clients/KeptDescription.swift value": (1, "schemas of one task, at most 64 KiB"),
        "Sources/TaskRuntime/Model/Tasks/OptionsCheck.swift sort": (1, "the verbs of one task, which a manifest names"),
        "Sources/TaskRuntime/Clients/RegistrationTexts.swift value": (1, "at most 1,024 bytes, asked beside it"),
        "Sources/TaskRuntime/Routing/Router.swift value": (1, "an id of at most 128 bytes"),
        "Sources/TaskRuntime/Clients/TaskRegistration.swift value": (
            1, "at most 64 KiB, asked above it; in the lane where it is long"
        ),
        "Sources/TaskRuntime/Streams/StreamCaller.swift removal": (
            1, "once in 64 streams of one call, of which there is a quota"
        ),
        "Sources/TaskRuntime/Streams/StreamTable-ends.swift walk": (3, "when the daemon ends, at most once a second"),
        "Sources/TaskRuntime/Streams/StreamTimes.swift removal": (1, "each time their number has doubled"),
        "Sources/TaskRuntime/Tasks/TaskRegistry.swift removal": (1, "each time their number has doubled"),
        "Sources/TaskRuntime/Lifecycle/SessionHandover.swift sort": (1, "once, when the daemon ends"),
        "Sources/TaskRuntime/Lifecycle/SessionHandover.swift walk": (1, "once, when the daemon ends"),
        "Sources/TaskRuntime/BridgeTasks/DescribingTasks.swift search": (1, "plugins, of which operators load few"),
        "Sources/TaskRuntime/BridgeTasks/EventTasks.swift search": (1, "a list of ours"),
        "Sources/TaskRuntime/BridgeTasks/OptionMembers.swift search": (
            2, "the members that a task of the daemon looks for"
        ),
        "Sources/TaskRuntime/Calls/CallTable.swift gap": (1, "leaves a gap: nothing moves up"),
        "Sources/TaskRuntime/Calls/CallTable.swift search": (
            1, "the first one that there is; gaps are at most three quarters"
        ),
        "Sources/TaskRuntime/Model/Events/EventListeners.swift search": (
            1, "the listeners of one session, of which there is a quota"
        ),
        "Sources/TaskRuntime/Model/Events/PatternTree.swift gap": (
            1, "the children of a node, one for each byte of a name"
        ),
        "Sources/TaskRuntime/Plugins/Intercepting.swift search": (1, "interceptors, which manifests name"),
        "Sources/TaskRuntime/Plugins/PluginInstance-marks.swift search": (
            1, "verbs of a task's options, of which there are two"
        ),
        "Sources/TaskRuntime/Calls/Interception.swift search": (
            2, "interceptors, which manifests name; plugins"
        ),
        "Sources/TaskRuntime/Model/Tasks/Interceptor.swift search": (
            1, "patterns and interceptors, which manifests name"
        ),
        "Sources/LaunchWorkers/LaunchOrder.swift gap": (1, "launch workers, which manifests name"),
        "Sources/LaunchWorkers/LaunchOrder.swift search": (1, "launch workers, which manifests name"),
        "Sources/LaunchWorkers/LaunchRegistry.swift search": (1, "launch workers, which manifests name"),
        "Sources/TaskRuntime/Launch/LaunchPhase.swift search": (1, "the phases of the start"),
        "Sources/TaskRuntime/Monitoring/TrafficFilter.swift search": (
            1, "receivers of one event, while an administrator watches"
        ),
        "Sources/TaskRuntime/Monitoring/TrafficMask.swift search": (1, "a list of ours"),
        "Sources/TaskRuntime/Plugins/PluginDirectory.swift search": (
            6, "plugins and their tasks, when an operator loads or replaces one"
        ),
        "Sources/TaskRuntime/Plugins/PluginInstance-waiting.swift search": (
            2, "tasks, which manifests name, when an operator replaces or removes a plugin"
        ),
        "Sources/TaskRuntime/Plugins/PluginInstance.swift search": (
            1, "the work of a plugin's life, which its manifest names"
        ),
        "Sources/TaskRuntime/Plugins/SessionReport.swift search": (1, "the first one that there is, found by halving"),
        "Sources/TaskRuntime/Policy/Admission.swift search": (1, "rules, which operators write"),
        "Sources/TaskRuntime/Gate/Rights.swift walk": (1, "an operator reloads the policy, or loads a plugin"),
        "Sources/TaskRuntime/Policy/Policy.swift search": (2, "rules, when an operator loads them"),
        "Sources/TaskRuntime/Policy/PolicyRule.swift search": (3, "the names in one rule, which operators write"),
        "Sources/TaskRuntime/Gate/Quotas.swift walk": (2, "an operator reloads limits"),
        "Sources/TaskRuntime/Clients/RegistrationLists.swift gap": (
            1, "pointers of the providers of one task move up: 8 bytes for each"
        ),
        "Sources/TaskRuntime/Clients/RegistrationLists.swift search": (
            1, "at most 64 providers, for the wording of an error"
        ),
        "Sources/TaskRuntime/Clients/RegistrationLists.swift sort": (1, "once, when the daemon ends"),
        "Sources/TaskRuntime/Clients/TaskRegistration.swift search": (1, "one summary of at most 64 KiB"),
        "Sources/TaskRuntime/Tasks/TaskOrder.swift gap": (1, "pointers of the tasks move up: 8 bytes for each"),
        "Sources/TaskRuntime/Tasks/TaskRegistry.swift search": (
            1, "the name of a task in the report of a turn that was too long"
        ),
        "Sources/TaskRuntime/Model/Sessions/Session.swift search": (1, "one for each dialect"),
        "Sources/TaskRuntime/Sessions/SessionList.swift gap": (1, "numbers of sessions move up: 8 bytes for each"),
        "Sources/TaskRuntime/BridgeTasks/OpenMetricsText.swift search": (1, "one label of a figure"),
        "Sources/TaskRuntime/BridgeTasks/RuntimeMetrics.swift sort": (
            1, "kinds of steps that were too long, of which so many are kept"
        ),
        "Sources/TaskRuntime/Events/EventBus.swift sort": (
            1, "receivers that a plugin names, in at most 64 KiB where it is a process"
        ),
        "Sources/TaskRuntime/Clients/ClientTasks.swift sort": (
            1, "the tasks of one session, of which there is a quota"
        ),
        "Sources/TaskRuntime/Model/Events/Subscription.swift search": (
            1, "the patterns of one session, of which there is a quota"
        ),
        "Sources/TaskRuntime/Model/Events/Subscription.swift sort": (
            1, "the patterns of one session, of which there is a quota"
        ),
        "Sources/TaskRuntime/Model/Events/Subscription.swift walk": (
            2, "the patterns of one session, of which there is a quota"
        ),
        "Sources/TaskRuntime/Tasks/InterceptorRegistry.swift search": (1, "interceptors, which manifests name"),
        "Sources/TaskRuntime/Tasks/InterceptorRegistry.swift removal": (
            1, "a plugin leaves; manifests name interceptors"
        ),
        "Sources/TaskRuntime/Monitoring/TrafficMonitor.swift search": (
            1, "sessions that monitor, which are administrators"
        ),
        "Sources/TaskRuntime/BridgeTasks/LongTurnReports.swift sort": (
            1, "kinds of steps that were too long, of which so many are kept"
        ),
        "Sources/TaskRuntime/Routing/Router-replies.swift value": (1, "at most 64 KiB, asked above it"),
        "Sources/TaskRuntime/Routing/PositionalOptions.swift value": (
            1, "positional options of at most 64 KiB, asked where they come"
        ),
        "Sources/TaskRuntime/Model/Events/EventLines.swift search": (1, "one for each dialect"),
        "Sources/TaskRuntime/Calls/CallEngine.swift search": (1, "plugins, of which operators load few"),
        "Sources/BridgeMessage/Dialects/CapacitorDialect.swift value": (1, "the name of a task, at most 128 bytes"),
        "Sources/BridgeMessage/Dialects/JSONRPCDialect.swift value": (
            2, "at most 20 bytes, and at most 64 KiB, asked beside it"
        ),
        "Sources/PluginInterface/ForeignBytes.swift value": (1, "at most 64 KiB, asked above it"),
        "Sources/TaskHosts/Processes/PluginProcessHost.swift value": (5, "once for each step of a plugin's life"),
        "Sources/TaskHosts/Processes/SessionNews.swift value": (
            1, "states of sessions, once after a start or a reload"
        ),
        "Sources/TaskHosts/Processes/PluginProcessAnswer.swift value": (1, "at most 64 KiB, asked above it"),
        "Sources/TaskHosts/Processes/PluginProcessMember.swift value": (1, "in the lane where it is long"),
        "Sources/TaskHosts/Processes/PluginProcessOwnCalls-news.swift value": (3, "at most 64 KiB, asked above it"),
        "Sources/TaskHosts/Processes/PluginProcessOwnCalls.swift value": (
            2, "an id of at most 128 bytes; a number of at most 20"
        ),
        "Sources/TaskKit/Export.swift value": (2, "once for each step of a plugin's life"),
        "Sources/TaskKit/Host.swift value": (1, "data of an error, which have at most 64 KiB where it comes from"),
        "Sources/TaskKit/InterceptedCall.swift value": (
            4, "where the author asks for values; the name and the session of a call"
        ),
        "Sources/TaskKit/PluginConfiguration.swift value": (2, "a section of the configuration, once for each change"),
        "Sources/TaskKit/PluginRuntime.swift value": (1, "options of a call, whose bytes the task bounds"),
        "Sources/TaskKit/PluginHandover.swift value": (3, "once, when the daemon ends or begins"),
        "Sources/TaskKit/Sender.swift value": (
            3, "at most 64 KiB, asked above it; a longer result beside the loop"
        ),
    ]
}
