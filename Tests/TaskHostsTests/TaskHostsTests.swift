// Tests of TaskHosts.
