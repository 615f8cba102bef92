// Tests of the Alert plugin.
