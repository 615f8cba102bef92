"""Names in the protocol between a plugin process and the daemon, and in its environment. Each is defined only here."""

from __future__ import annotations

# The beginning of the protocol.
PROTOCOL = "trestle-plugin"
PROTOCOL_VERSION = "1.0"
"""The version of the protocol. A daemon refuses a process with another major version."""
DESCRIPTOR = "TRESTLE_PLUGIN_FD"
"""The environment variable with the number of the socket's descriptor."""

# Tasks that the daemon calls about the plugin itself.
PREFIX = "plugin."
HELLO = "plugin.hello"
PING = "plugin.ping"
CONFIGURE = "plugin.configure"
CHECK = "plugin.check"
RECONFIGURE = "plugin.reconfigure"
START = "plugin.start"
LAUNCH = "plugin.launch"
INTERCEPT = "plugin.intercept"
SAVE_SESSIONS = "plugin.save_sessions"
RESTORE_SESSIONS = "plugin.restore_sessions"
CLEAN = "plugin.clean"
STOP = "plugin.stop"
SESSION = "plugin.session"
"""An event."""

# One-way calls from the plugin to the daemon.
LOG = "plugin.log"
PUBLISH = "plugin.publish"
METRICS = "plugin.metrics"

# Members of declarations.
PUBLIC = "public"
OPTION_PERMISSIONS = "optionPermissions"
MAX_OPTION_BYTES = "optionBytes"
ON_FAILURE = "onFailure"
LAUNCH_WORKERS = "launchWorkers"
RELOADABLE = "reloadable"
SESSIONS = "sessions"
PINGS = "ping"
PINGS_ALWAYS = "always"

# Members of options and results.
STATE_DIRECTORY = "stateDirectory"
LAUNCH_OPTIONS = "launch"
LAUNCH_ARGUMENTS = "arguments"
LAUNCH_ENVIRONMENT = "environment"
LAUNCH_WORKER = "worker"
INTERCEPTOR = "interceptor"
INTERCEPTORS = "interceptors"
ONE_WAY = "oneWay"
SAVED_SESSIONS = "sessions"
STATES = "states"
LOST = "lost"
RECEIVERS = "sessions"
DIRECT = "direct"
RETAIN = "retain"
FORGET = "forget"
