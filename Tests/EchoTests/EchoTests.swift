// Tests of the Echo plugin.
