// Tests of the Login plugin.
