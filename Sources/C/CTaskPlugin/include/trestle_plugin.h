/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle_plugin.h: the binary interface between the Trestle daemon and a task plugin.
 *
 * A plugin is a shared library that exports the function `trestle_plugin_entry`. The daemon calls it once,
 * reads the returned table, and from then on each side calls the other through the two tables below: the
 * plugin's (`trestle_plugin`) and the daemon's (`trestle_host`). Any language with a C calling convention
 * will do. `TaskKit` fills these tables for plugins in Swift.
 *
 * This file has the rules and the plugin's table. It includes trestle/values.h (versions, bytes, callers, requests,
 * errors), trestle/messages.h (what a plugin sends by itself), trestle/streams.h and trestle/host.h (the daemon's
 * table).
 *
 * Rules that hold in all of them
 *
 *   Places     The process that loads the plugin is the daemon, or one of the plugin's own that the daemon starts
 *              (`trestle-plugin-host`). "The daemon" below is either, unless it says which.
 *   Versions   Every struct starts with `size` (bytes, as its writer compiled it) and `abi`. New fields are
 *              only ever added at the end; a reader looks at `size` before it reads a field that its own
 *              version added. The daemon refuses a different `abi`, with an error that names both.
 *   Threads    The daemon calls the plugin on one thread, the loop thread. Two of its calls are never at work at the
 *              same time, but one may come inside another: see Re-entry.
 *              Host functions marked ANY THREAD may be called from anywhere; those marked LOOP THREAD only
 *              from inside a call of the daemon into the plugin or from a function given to `post`.
 *   Re-entry   Inside any call from the daemon the plugin may call every host function. On the loop thread `reply`,
 *              `fail`, `call` and `cancel` may call this plugin again before they return (the next call that waits, a
 *              `cancel`, a `done`), and other plugins too: hold no lock across them, and have your own state in order
 *              before. `done` of a call about a stream never comes inside another call.
 *   Order      What the plugin sends (answers, progress, events, lines of the log) takes effect in the order in which
 *              it is sent, whatever the threads: nothing overtakes what its sender knows to have been sent. So progress
 *              that a thread has sent comes before the answer that the loop thread gives when the thread is done.
 *   Memory     Bytes that one side hands to the other are borrowed until the function returns; who wants
 *              to keep them copies them. A request's options, and the results and progress of the plugin's own
 *              calls, are readable (not meaningful) for TRESTLE_PADDING bytes past their end, so that vector
 *              code may read ahead. Strings are UTF-8 and not terminated.
 *   JSON       Wherever a field is said to be JSON, it is one complete value of RFC 8259. What comes from
 *              the daemon has been checked; what goes to it will be.
 *   Handles    A `trestle_call` is a number, never a pointer. One that has ended is recognised, so that a
 *              late or second reply is harmless: it is dropped, counted and logged.
 *   Errors     No function returns one. What the plugin gets wrong is reported where it can be: a result that is no
 *              JSON ends its call with `reply.invalid`; progress, an event or a metric that is invalid is left out,
 *              with a line in the log. A call that is never answered ends at its deadline, and its work counts as
 *              running. A crash ends the process; in the daemon's own, that is the daemon.
 *   Output     Standard output and standard error are the daemon's; in a process of the plugin's own they go to the
 *              log, line by line. Better use `log`.
 *
 * `trestle plugin check` tries whether a library keeps to all this.
 */
#ifndef TRESTLE_PLUGIN_H
#define TRESTLE_PLUGIN_H

#include "trestle/host.h"
#include "trestle/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why the daemon asks a plugin to stop working on a call. The caller has had its answer by then. A plugin in a process
 * of its own gets CALLER, whatever the reason. */
enum {
    TRESTLE_CANCEL_CALLER = 0,   /* The caller said so, or an operator did. */
    TRESTLE_CANCEL_TIMEOUT = 1,  /* Its deadline passed. */
    TRESTLE_CANCEL_GONE = 2,     /* The caller is gone. */
    TRESTLE_CANCEL_SHUTDOWN = 3, /* The daemon is stopping. */
};

/* What happens to a session. */
enum {
    TRESTLE_SESSION_OPENED = 0,     /* It connected; calls may follow. */
    TRESTLE_SESSION_CLOSED = 1,     /* It is gone: no call of it follows, and what was kept for it can go. */
    TRESTLE_SESSION_BACKGROUND = 2, /* Its page or program is not visible to the user at present. */
    TRESTLE_SESSION_FOREGROUND = 3, /* It is seen again. */
};

/* What a plugin offers to the daemon. Valid until the process ends: a plugin's library is never unloaded.
 *
 * The order of calls: `attach` once; `configure`; `start`; each of the launch workers; then `call`, `intercept`,
 * `cancel` and `session` as they come, and `reconfigure` among them; `stop` at last. Between the launch workers and the
 * first call, and before `stop`, come `restore_sessions` and `save_sessions` where sessions go from one daemon to the
 * next. Every function but `manifest`, `attach` and `call` may be NULL.
 */
typedef struct trestle_plugin {
    uint32_t size; /* sizeof(trestle_plugin) */
    uint32_t abi;  /* TRESTLE_ABI */
    void *context; /* The plugin's; handed to each of its functions. May be NULL. */

    /* JSON, see docs/plugins.md:
       {"name", "version", "tasks": [{"name", "summary", "permission"?, "public"?, "optionPermissions"?: {OPTION: verb},
        "timeout"?: ms or null, "concurrency"?, "private"?, "optionBytes"?, "options"?: JSON Schema, "result"?: JSON
        Schema, "progress"?: JSON Schema}], "events"?: [{"name", "summary", "public"?}],
        "launchWorkers"?: [{"name", "phase", "after"?: [names], "required"?}],
        "interceptors"?: [{"name", "summary", "tasks": [patterns], "onFailure"?}], "configuration"?: JSON Schema,
        "reloadable"?, "error"?}
       "name" of a task: 1 to 128 of the characters A-Z, a-z, 0-9 and . _ / : -, which do not begin with "bridge.",
       "plugin." or "rpc.": those are the daemon's, and a plugin with such a task is refused. "name" of an event: the
       same characters.
       "public": true: members of the group "trestle" may call the task, or get the event, where no rule of
       docs/policy.md matches. "optionPermissions": options that not every caller may set to every name, each with the
       policy's verb that the daemon checks for the name before it calls `call`: "store", of a namespace, "UID:ORIGIN";
       "reach", of an origin of the web, "https://api.example".
       "options": the daemon checks a call's options against it before it calls `call`; docs/protocol.md says what it
       checks. "timeout" absent: the daemon's own; null: none. "phase": "beforeListening" or "afterListening".
       "name" of the plugin: letters a-z and A-Z, digits, - and _, beginning with a letter, at most 64 bytes. Names of
       tasks, events, launch workers and interceptors: such words with dots between them, at most 128 bytes; none begins
       with "bridge." or "rpc.", which are the daemon's. No two of a kind are the same.
       "tasks" of an interceptor: names of tasks, or beginnings of names with a * behind them; see `intercept`.
       "onFailure": what happens to a call when the interceptor fails: "refuse" (the default), it ends with that
       failure, or "pass", it goes on without.
       "configuration": of an object; its properties' "description" and "default" are shown to operators.
       "reloadable": true: a new section takes effect by `reconfigure`; else it takes a restart.
       "error": the plugin cannot be used, and this sentence is the reason. The daemon refuses the plugin with that
       sentence and calls none of the functions below. */
    trestle_bytes manifest;

    /* The daemon's table, before anything else: only keep the pointer, which holds until the process ends. */
    void (*attach)(void *context, const trestle_host *host);
    /* `options` is the plugin's own section of the configuration; {} where there is none. Check it and keep it, and do
       nothing else: a check of the configuration ends after this call. Answer with `reply` {} or with
       `fail`, code "configuration.invalid", data {"path", "expected"?, "got"?, "known"?: [keys]}. */
    void (*configure)(void *context, const trestle_request *request);
    /* Make ready. `options` is {"stateDirectory", "launch": {"arguments", "environment"?}}. The answer may come later,
       within 60 seconds, as that of `configure`: {}, or {"interceptors": {"NAME": [patterns]}} with the tasks that the
       interceptors named there are for, in place of those of the manifest. `fail`: the plugin is not used, and the log
       and bridge.plugins say why. */
    void (*start)(void *context, const trestle_request *request);
    /* Run the launch worker `number`; `options` as in `start`. The answer may come later, within 60 seconds.
       `fail`: the log says so; without a worker that is "required" the daemon does not start, or does not take the
       plugin that is loaded. */
    void (*launch)(void *context, const trestle_request *request);
    /* A call of the task `number`. Must not block: the loop thread serves all callers. Answer with `reply` or `fail`,
       now or later, once. Options have been checked where the manifest has a schema of them; where it has none, or
       `describe` returns it, check them here and fail with "options.invalid", data {"path", "expected", "got"}. */
    void (*call)(void *context, const trestle_request *request);
    /* Stop working on a call; `reason` is TRESTLE_CANCEL_…. Answer it all the same when the work has ended: the answer
       is dropped, and until it comes the work counts as running. NULL: the plugin answers every call soon enough. */
    void (*cancel)(void *context, trestle_call call, uint32_t reason);
    /* Something happened to a session; `change` is TRESTLE_SESSION_…, and others may be added. There is nothing to
       answer. */
    void (*session)(void *context, uint32_t change, const trestle_caller *session);
    /* Finish: no call will follow. Answer with `reply` {} when done; past the deadline (the daemon's stop_timeout, 5
       seconds) the daemon goes on without it, and so it does after `fail`, which the log reports. What the plugin's
       threads still send is dropped. */
    void (*stop)(void *context, const trestle_request *request);

    /* Another daemon is about to replace this one and to continue its sessions; no call is in flight, and `stop`
       follows. `options` is {"sessions": [numbers]}. Answer {"states": {"NUMBER": any JSON}} with the state that
       the plugin of the same name needs in the other daemon; leave out sessions without state. `fail`: it comes again
       with fewer of the sessions, at last with single ones; a session for which it fails is closed. Where only this
       plugin is reloaded, the session goes on without that state. */
    void (*save_sessions)(void *context, const trestle_request *request);
    /* Sessions of the previous daemon continue here, each reported as OPENED already; calls follow only after the
       answer. `options` is the answer to `save_sessions`, perhaps by another version of the plugin. It comes several
       times, each time with a part of the sessions. Answer {"lost": [numbers]} with those sessions that cannot
       continue: the daemon closes them with a reason. `fail`: none of those sessions can continue; in a reload of the
       plugin alone, the previous version stays. */
    void (*restore_sessions)(void *context, const trestle_request *request);
    /* The daemon has read its configuration again, while the plugin runs. `options` and the answer are those of
       `configure`, `number` is TRESTLE_RECONFIGURE_…; to TRESTLE_RECONFIGURE_TAKE the answer may also be that of
       `start`. A plugin that refuses keeps the section before. NULL: a new section is not read
       before the daemon starts again. */
    void (*reconfigure)(void *context, const trestle_request *request);
    /* What the manifest leaves out, asked for when it is first needed: at any time after `attach`, once. `options` is
       {}. Answer {"tasks"?: [{"options"?, "result"?, "progress"?}], "configuration"?, "errors"?: [sentences]}: JSON
       Schemas, one object for each task of the manifest, in its order; the sentences name the schemas that are
       missing, and why. NULL: the manifest is complete. */
    void (*describe)(void *context, const trestle_request *request);
    /* Decide about a call of a task, before that task gets it, for the interceptor `number`. `options` is
       {"interceptor": its name, "task": the task's name, "session"?: the session whose task is meant, "oneWay"?: true
       where no one waits for the answer, "options": those of the call, as they came and not checked yet}. `caller` is
       who makes the call, `time_remaining_ns` what is left of its time, `call` the handle of this question: what is
       called with it as `parent` is called on behalf of the caller, and is not shown to this interceptor. `cancel` says
       that the call has ended; `report_progress` reaches its caller. The answer may come later. It is one of
         {"pass": true}                   the call goes on as it is: to the next interceptor, or to the task;
         {"options": JSON}                so, with these options;
         {"task": name, "options"?: JSON} so, as a call of that task, which its caller must be allowed to call;
         {"result": JSON}                 the call ends with this result;
         {"error": {"code", "message", "data"?, "transient"?, "retryAfter"?: ms}}  it ends with this error.
       An error by way of `fail` is a refusal, too, but for "internal", "task.not_found" and those that begin with
       "plugin.": these, and any other answer, are a failure of the interceptor. NULL: the manifest names no
       interceptors. */
    void (*intercept)(void *context, const trestle_request *request);
} trestle_plugin;

/* What `reconfigure` is to do. */
enum {
    TRESTLE_RECONFIGURE_CHECK = 0, /* Check the section, and change nothing. */
    TRESTLE_RECONFIGURE_TAKE = 1,  /* Use it from now on. Only where the manifest says "reloadable". */
};

/* The symbol that every plugin exports. Called once, on the loop thread. NULL: the plugin cannot be used. */
#define TRESTLE_PLUGIN_ENTRY "trestle_plugin_entry"
const trestle_plugin *trestle_plugin_entry(void);

/* A plugin that exports this one as well runs in a process of its own, unless its section in the daemon's configuration
   says otherwise: for code that reads untrusted data, or links large libraries. Never called: the daemon looks for the
   symbol before it loads the library. */
#define TRESTLE_PLUGIN_WANTS_PROCESS "trestle_plugin_wants_process"
void trestle_plugin_wants_process(void);

#ifdef __cplusplus
}
#endif

#endif
